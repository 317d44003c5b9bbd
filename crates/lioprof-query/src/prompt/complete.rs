//! Helps while a line is typed: whether it is complete, and how words go on.

use std::collections::BTreeMap;

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use lioprof_query::{Format, Session, ready};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

use super::command;
use crate::args;

const KEYWORDS: [&str; 41] = [
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COUNT",
    "CREATE",
    "CROSS",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "EXPLAIN",
    "FILTER",
    "FROM",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INTERVAL",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "NULLS LAST",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PARTITION BY",
    "SELECT",
    "THEN",
    "UNION ALL",
    "VIEW",
    "WHEN",
    "WHERE",
];

/// Names that SQL can use.
pub(super) struct KnownNames {
    /// Columns of each table and view.
    tables: BTreeMap<String, Vec<String>>,
}

impl KnownNames {
    pub(super) async fn of(session: &Session) -> Self {
        let mut tables = BTreeMap::new();
        for (table, provider) in session.tables().await {
            let columns = provider.schema().fields().iter().map(|field| field.name().clone()).collect();
            tables.insert(table, columns);
        }
        Self { tables }
    }

    /// Columns of the tables that a statement names; of all, as long as it names none.
    fn columns(&self, statement: &str) -> impl Iterator<Item = &str> {
        let named = |table: &String| words(statement).any(|word| word == table.as_str());
        let any = self.tables.keys().any(named);
        let used =
            self.tables.iter().filter(move |(table, _)| !any || words(statement).any(|word| word == table.as_str()));
        used.flat_map(|(_, columns)| columns.iter().map(String::as_str)).collect::<Vec<_>>().into_iter()
    }
}

/// Rustyline asks it while a line is typed.
pub(super) struct Assistant {
    names: KnownNames,
}

impl Assistant {
    pub(super) fn new(names: KnownNames) -> Self {
        Self { names }
    }

    /// How the word that ends at the cursor may go on.
    fn candidates(&self, before: &str, after: &str) -> (usize, Vec<String>) {
        if before.starts_with('\\') {
            return self.arguments(before);
        }
        let start = before
            .rfind(|c: char| !is_word(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        let statement = format!("{before}{after}");
        let names = self.names.columns(&statement).chain(self.names.tables.keys().map(String::as_str));
        let mut found: Vec<String> = names.filter(|name| name.starts_with(word)).map(str::to_owned).collect();
        let lower = word.chars().all(|c| !c.is_uppercase());
        let keywords = KEYWORDS.iter().filter(|keyword| keyword.starts_with(&word.to_uppercase()));
        found.extend(keywords.map(|keyword| if lower { keyword.to_lowercase() } else { (*keyword).to_owned() }));
        found.sort();
        found.dedup();
        (start, found)
    }

    /// Of a command that begins with a backslash.
    fn arguments(&self, before: &str) -> (usize, Vec<String>) {
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = &before[start..];
        let matching = |names: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            names.filter(|name| name.starts_with(word)).map(str::to_owned).collect()
        };
        let earlier: Vec<&str> = before[..start].split_whitespace().collect();
        let found = match earlier[..] {
            [] => matching(&mut command::NAMES.into_iter()),
            ["\\d"] => matching(&mut self.names.tables.keys().map(String::as_str)),
            ["\\ready" | "\\show"] => matching(&mut ready::all().iter().map(|query| query.name.as_str())),
            ["\\format"] => matching(
                &mut Format::ALL.iter().map(|format| format.name()).filter(|name| args::terminal_format(name).is_ok()),
            ),
            ["\\ready", name, ..] => {
                let parameters = ready::find(name).map_or(&[][..], |query| &query.parameters);
                let names: Vec<String> = parameters.iter().map(|parameter| format!("{}=", parameter.name)).collect();
                matching(&mut names.iter().map(String::as_str))
            }
            _ => Vec::new(),
        };
        (start, found)
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.candidates(&line[..pos], &line[pos..]))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_complete(context.input()) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Highlighter for Assistant {}

impl Helper for Assistant {}

/// SQL is complete at its semicolon, unless that is within a text or a comment.
fn is_complete(input: &str) -> bool {
    let input = input.trim();
    if input.is_empty() || input.starts_with('\\') {
        return true;
    }
    // What is no token yet is a text or a comment that has no end.
    let Ok(tokens) = Tokenizer::new(&GenericDialect {}, input).tokenize() else { return false };
    let last = tokens.iter().rev().find(|token| !matches!(token, Token::Whitespace(_)));
    last.is_none_or(|token| *token == Token::SemiColon)
}

fn words(statement: &str) -> impl Iterator<Item = &str> {
    statement.split(|c: char| !is_word(c))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assistant() -> Assistant {
        let columns = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect();
        let tables = [("rpcs", columns(&["nid", "node", "bytes"])), ("flows", columns(&["nid", "reads"]))];
        Assistant { names: KnownNames { tables: tables.map(|(name, columns)| (name.to_owned(), columns)).into() } }
    }

    fn complete(line: &str) -> Vec<String> {
        let at = line.find('|').unwrap_or(line.len());
        assistant().candidates(&line[..at], line.get(at + 1..).unwrap_or("")).1
    }

    #[test]
    fn names_and_keywords() {
        assert_eq!(complete("select n"), ["nid", "node", "not", "null", "nulls last"]);
        assert_eq!(complete("SELECT re| FROM rpcs"), Vec::<String>::new());
        assert_eq!(complete("SELECT re| FROM flows"), ["reads"]);
        assert_eq!(complete("SELECT nid FROM rp"), ["rpcs"]);
        assert_eq!(complete("SEL"), ["SELECT"]);
        assert_eq!(complete("SELECT 'ä', by"), ["by", "bytes"]);
        assert_eq!(complete("SELECT "), Vec::<String>::new());
    }

    #[test]
    fn commands_and_their_arguments() {
        assert_eq!(complete("\\f"), ["\\format"]);
        assert_eq!(complete("\\d f"), ["flows"]);
        assert_eq!(complete("\\format j"), ["json"]);
        assert_eq!(complete("\\format p"), Vec::<String>::new());
        assert_eq!(complete("\\ready busiest-cl"), ["busiest-clients"]);
        assert_eq!(complete("\\ready busiest-clients fr"), ["from="]);
    }

    #[test]
    fn sql_ends_with_its_semicolon() {
        for complete in ["", "\\d", "SELECT 1;", "SELECT 1 ; ", "SELECT ';';", "SELECT 1; -- why"] {
            assert!(is_complete(complete), "{complete}");
        }
        for incomplete in ["SELECT 1", "SELECT ';", "SELECT 1 /* ;", "SELECT 1\nFROM"] {
            assert!(!is_complete(incomplete), "{incomplete}");
        }
    }
}
