//! What must hold for the page of any analysis; how it behaves in a browser is tested by `scripts/check-report`.

#[cfg(test)]
mod limits;
#[cfg(test)]
mod support;
