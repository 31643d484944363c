//! pauses
