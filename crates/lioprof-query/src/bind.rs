//! Values for the parameters of a ready query.

use std::collections::HashMap;

use datafusion::common::ParamValues;
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::scalar::ScalarValue;
use lustre_debuglog::Opcode;

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
        check_span(&values, set)?;
        Ok(Self(values))
    }

    /// The text that a parameter was set to.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(ScalarValue::Utf8(text)) => text.as_deref(),
            _ => None,
        }
    }
}

/// Checks that a span has a length: of an empty one every query has an empty answer, as if nothing had happened.
fn check_span(values: &HashMap<String, ScalarValue>, set: &[(String, String)]) -> Result<(), QueryError> {
    let (Some(ScalarValue::Int64(Some(from))), Some(ScalarValue::Int64(Some(to)))) =
        (values.get("from"), values.get("to"))
    else {
        return Ok(());
    };
    if from < to {
        return Ok(());
    }
    let given = |name: &str| set.iter().rev().find(|it| it.0 == name).map_or("", |it| it.1.as_str()).to_owned();
    Err(QueryError::Value {
        name: "to".to_owned(),
        expected: format!("a time after that of `from`, `{}`", given("from")),
        found: given("to"),
    })
}

impl From<Bound> for ParamValues {
    fn from(bound: Bound) -> Self {
        Self::Map(bound.0.into_iter().map(|(name, value)| (name, ScalarAndMetadata::from(value))).collect())
    }
}

/// The names of operations that resemble a text, else those of the most frequent operations.
fn known_opcodes(text: &str) -> String {
    let upper = text.to_ascii_uppercase();
    let alike =
        |name: &&str| upper.split('_').any(|word| word.len() > 2 && name.split('_').any(|it| it.starts_with(word)));
    let mut names: Vec<&str> = Opcode::ALL.iter().filter_map(|opcode| opcode.name()).filter(alike).collect();
    if names.is_empty() {
        names = ["OST_READ", "OST_WRITE", "MDS_REINT", "LDLM_ENQUEUE"].into();
    }
    format!("an operation such as {}, or a number", names.join(", "))
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
        Kind::Opcode => {
            let name = text.map(|text| Opcode::parse_bytes(text.as_bytes()).ok_or_else(|| known_opcodes(text)));
            ScalarValue::Utf8(name.transpose().map_err(wrong)?.map(|opcode| opcode.to_string()))
        }
    })
}
