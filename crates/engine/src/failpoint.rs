//! Named places between the steps of the use cases, where a test kills, stops or fails this process. Without the feature
//! `failpoints` nothing of them is compiled: a release has none.

/// Passes through the place `$name`. Where a test says so, the step ends there as if the store were busy.
macro_rules! failpoint {
    ($name:literal) => {
        #[cfg(feature = "failpoints")]
        fail::fail_point!($name, |_| Err(store::StoreError::Busy(None).into()));
    };
}
pub(crate) use failpoint;
