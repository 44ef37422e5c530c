//! Limits: what a run may use before it must stop.

use crate::decision::Stop;

/// What a run has used, and may use.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub used_iterations: u64,
    pub max_iterations: u64,
}

/// Asked before every iteration, before anything is spent.
pub fn judge(context: Context) -> Option<Stop> {
    let Context { used_iterations: used, max_iterations: max } = context;
    (max > 0 && used >= max).then_some(Stop::MaxIterations { used, max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_means_no_limit() {
        assert_eq!(judge(Context { used_iterations: 1_000_000, max_iterations: 0 }), None);
        assert_eq!(judge(Context { used_iterations: 49, max_iterations: 50 }), None);
        let stop = Some(Stop::MaxIterations { used: 50, max: 50 });
        assert_eq!(judge(Context { used_iterations: 50, max_iterations: 50 }), stop);
    }
}
