//! Lock tests.
