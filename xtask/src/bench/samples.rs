//! Measured times and their order statistics.

/// Times of one thing, in milliseconds.
#[derive(Debug, Default, Clone)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    pub(super) fn push(&mut self, millis: f64) {
        let at = self.0.partition_point(|known| *known < millis);
        self.0.insert(at, millis);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// From the 10th to the 90th percentile.
    pub(super) fn spread(&self) -> (f64, f64) {
        (self.percentile(10), self.percentile(90))
    }

    /// The nearest sample; 0 of none.
    fn percentile(&self, percent: usize) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last * percent + 50) / 100).copied().unwrap_or_default()
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(millis: I) -> Self {
        let mut samples = Self::default();
        millis.into_iter().for_each(|millis| samples.push(millis));
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_spread_do_not_depend_on_the_order() {
        let samples: Samples =
            [9.0, 1.0, 5.0, 3.0, 7.0, 2.0, 8.0, 4.0, 6.0, 10.0, 100.0].into_iter().collect();
        assert_eq!((samples.len(), samples.median(), samples.spread()), (11, 6.0, (2.0, 10.0)));
    }

    #[test]
    fn no_samples_are_no_panic() {
        assert_eq!(Samples::default().median(), 0.0);
    }
}
