//! Values for the parameters of a ready query.

use std::collections::HashMap;

use datafusion::common::ParamValues;
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::scalar::ScalarValue;

use crate::error::QueryError;
use crate::ready::{Kind, Parameter, Ready};
use crate::time;

/// A value for each `$name` of a statement. Values are never put into the SQL's text.
#[derive(Clone, Debug, Default)]
pub struct Bound(HashMap<String, ScalarValue>);

impl Bound {
    /// Takes the values of `set`, `(name, value)`, and defaults for the rest. Times of day refer to the only one of `days`.
    ///
    /// # Errors
    /// If a parameter is unknown, or a value is not of the parameter's kind.
    pub fn new(query: &Ready, set: &[(String, String)], days: &[String]) -> Result<Self, QueryError> {
        if let Some((name, _)) = set.iter().find(|(name, _)| query.parameters.iter().all(|it| it.name != *name)) {
            return Err(QueryError::UnknownParameter {
                query: query.name.clone(),
                name: name.clone(),
                known: query.parameters.iter().map(|it| it.name.clone()).collect(),
            });
        }
        let mut values = HashMap::new();
        for parameter in &query.parameters {
            // Said twice: the last one counts, as with options of commands.
            let given = set.iter().rev().find(|(name, _)| *name == parameter.name).map(|(_, value)| value.as_str());
            let value = value(parameter, given.or(parameter.default.as_deref()), days)?;
            values.insert(parameter.name.clone(), value);
        }
        Ok(Self(values))
    }
}

impl From<Bound> for ParamValues {
    fn from(bound: Bound) -> Self {
        Self::Map(bound.0.into_iter().map(|(name, value)| (name, ScalarAndMetadata::from(value))).collect())
    }
}

fn value(parameter: &Parameter, text: Option<&str>, days: &[String]) -> Result<ScalarValue, QueryError> {
    let wrong = |expected: String| QueryError::Value {
        name: parameter.name.clone(),
        expected,
        found: text.unwrap_or_default().to_owned(),
    };
    Ok(match parameter.kind {
        Kind::Text => ScalarValue::Utf8(text.map(str::to_owned)),
        Kind::Number => {
            let number = text.map(|text| text.parse::<i64>().ok().filter(|it| *it >= 0)).map(|it| it.ok_or(()));
            ScalarValue::Int64(number.transpose().map_err(|()| wrong("a whole number".to_owned()))?)
        }
        Kind::Time => ScalarValue::Int64(text.map(|text| time::parse(text, days)).transpose().map_err(wrong)?),
    })
}
