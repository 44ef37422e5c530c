//! When an agent worked, by its own times.

use crate::Result;

/// When an agent began and ended, each time, in nanoseconds.
pub(super) struct Worked(Vec<(u64, u64)>);

impl Worked {
    pub(super) fn read(text: &str) -> Result<Self> {
        let times: Vec<u64> = text
            .lines()
            .map(|line| line.parse().map_err(|_| format!("no time that `date +%s%N` prints: {line:?}")))
            .collect::<Result<_>>()?;
        match times.as_chunks() {
            (worked @ [_, _, ..], []) => {
                Ok(Self(worked.iter().map(|[begun, ended]| (*begun, *ended)).collect()))
            }
            _ => Err(format!("{} times that an agent wrote down are not those of two", times.len())),
        }
    }

    /// From an end to the next beginning, in milliseconds: the mean, since there are things that are done in some iterations only,
    /// but without the longest and the shortest twentieth, when the machine did something else.
    pub(super) fn between(&self) -> f64 {
        let mut gaps: Vec<f64> =
            self.0.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].1) as f64 / 1e6).collect();
        gaps.sort_by(f64::total_cmp);
        let odd = gaps.len() / 20;
        let kept = &gaps[odd..gaps.len() - odd];
        kept.iter().sum::<f64>() / kept.len() as f64
    }

    /// From the first beginning to the last end, in milliseconds.
    pub(super) fn whole(&self) -> f64 {
        let [(begun, _), .., (_, ended)] = &self.0[..] else { return 0.0 };
        ended.saturating_sub(*begun) as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::Worked;

    #[test]
    fn the_time_between_is_that_from_an_end_to_the_next_beginning() {
        let worked = Worked::read("1000000\n5000000\n8000000\n9000000\n10000000\n11000000\n").expect("times");
        assert_eq!((worked.between(), worked.whole()), (2.0, 10.0));
    }

    #[test]
    fn one_that_was_held_up_does_not_count() {
        let times = (0..41u64).map(|n| format!("{}\n{}\n", n * 3_000_000, n * 3_000_000 + 1_000_000));
        let mut times: Vec<String> = times.collect();
        times.push("900000000\n901000000\n".into());
        assert_eq!(Worked::read(&times.concat()).expect("times").between(), 2.0);
    }

    #[test]
    fn what_is_no_time_is_told() {
        for text in ["", "1\n2\n", "1\n2\n3\n", "1\n2\n3\nlater\n"] {
            assert!(Worked::read(text).is_err(), "{text:?}");
        }
    }
}
