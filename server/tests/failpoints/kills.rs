//! kills
