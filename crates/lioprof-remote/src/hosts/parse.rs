//! Reading a list of hosts.

use nom::branch::alt;
use nom::bytes::complete::{take_while, take_while1};
use nom::character::complete::{char, digit1};
use nom::combinator::{cut, map, map_res, opt};
use nom::error::{ErrorKind, FromExternalError, ParseError};
use nom::multi::{many0, separated_list1};
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

use super::error::HostListError;

/// Most hosts that a list may have: a slip such as `[1-1000000000]` must not fill the memory.
const MAX_HOSTS: usize = 100_000;
/// Longest number in brackets: all numbers of so many digits fit into a u64.
const MAX_DIGITS: usize = 18;

/// A part of a name.
enum Part<'a> {
    /// As it stands there.
    Text(&'a str),
    /// One number of several.
    Ranges(Vec<Range>),
}

/// `first-last/step`; a single number has itself as its last.
struct Range {
    first: u64,
    last: u64,
    step: u64,
    /// Digits of each number, filled up with zeros.
    digits: usize,
}

/// What went wrong, where the input begins with `at`.
#[derive(Debug)]
struct Problem<'a> {
    at: &'a str,
    /// `None`: the characters there do not belong there.
    what: Option<String>,
}

impl<'a> ParseError<&'a str> for Problem<'a> {
    fn from_error_kind(at: &'a str, _: ErrorKind) -> Self {
        Self { at, what: None }
    }

    fn append(_: &'a str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

impl<'a> FromExternalError<&'a str, String> for Problem<'a> {
    fn from_external_error(at: &'a str, _: ErrorKind, what: String) -> Self {
        Self { at, what: Some(what) }
    }
}

type Parsed<'a, T> = IResult<&'a str, T, Problem<'a>>;

/// All names of a list, as often as it has them.
pub(super) fn names(list: &str) -> Result<Vec<String>, HostListError> {
    let fail = |at: &str, problem| HostListError::new(list, list.len() - at.len(), problem);
    let mut names = Vec::new();
    let mut rest = skip(list);
    if rest.is_empty() {
        return Err(fail(rest, "expected a host, found nothing".to_owned()));
    }
    while !rest.is_empty() {
        if rest.starts_with('-') {
            return Err(fail(rest, "a host cannot begin with `-`".to_owned()));
        }
        let (after, parts) = name(rest).map_err(|err| match err {
            nom::Err::Error(problem) | nom::Err::Failure(problem) => {
                let what = problem.what.unwrap_or_else(|| expected_in_brackets(problem.at));
                fail(problem.at, what)
            }
            nom::Err::Incomplete(_) => fail("", "the list ends too early".to_owned()),
        })?;
        if parts.is_empty() || !(after.is_empty() || after.starts_with(is_separator)) {
            return Err(fail(after, not_in_names(after)));
        }
        let count = parts.iter().try_fold(1_u64, |count, part| count.checked_mul(numbers(part)));
        let room = MAX_HOSTS - names.len();
        if count.and_then(|count| usize::try_from(count).ok()).is_none_or(|count| count > room) {
            return Err(fail(rest, format!("more than {MAX_HOSTS} hosts")));
        }
        names.extend(expand(&parts));
        rest = skip(after);
    }
    Ok(names)
}

fn is_separator(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

fn skip(text: &str) -> &str {
    text.trim_start_matches(is_separator)
}

/// What names, users and addresses are made of.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._:@%".contains(c)
}

fn not_in_names(at: &str) -> String {
    match at.chars().next() {
        Some('@' | '!' | '&' | '^') => {
            format!("expected a host, found `{}`: `nodeset -e` expands groups and operators of ClusterShell", &at[..1])
        }
        Some(']') => "found `]` without `[` before it".to_owned(),
        Some(other) => format!("expected a letter, a digit or one of `-._:@%[`, found `{other}`"),
        None => "expected a host, found the end".to_owned(),
    }
}

fn expected_in_brackets(at: &str) -> String {
    match at.chars().next() {
        Some(found) => format!("expected numbers and ranges such as [1,3-5], found `{found}`"),
        None => "expected `]`, found the end".to_owned(),
    }
}

fn name(input: &str) -> Parsed<'_, Vec<Part<'_>>> {
    // A name begins with a letter or digit: `@group` is another thing.
    if input.starts_with('@') {
        return Ok((input, Vec::new()));
    }
    let text = map(take_while1(is_name), Part::Text);
    many0(alt((text, map(brackets, Part::Ranges)))).parse(input)
}

fn brackets(input: &str) -> Parsed<'_, Vec<Range>> {
    delimited(char('['), cut(separated_list1(char(','), padded(range))), cut(char(']'))).parse(input)
}

/// Blanks around what `inner` reads.
fn padded<'a, T>(
    inner: impl Parser<&'a str, Output = T, Error = Problem<'a>>,
) -> impl Parser<&'a str, Output = T, Error = Problem<'a>> {
    delimited(take_while(|c| c == ' '), inner, take_while(|c| c == ' '))
}

fn range(input: &str) -> Parsed<'_, Range> {
    let text = (digit1, opt((preceded(char('-'), cut(digit1)), opt(preceded(char('/'), cut(digit1))))));
    map_res(text, |(first, rest): (&str, Option<(&str, Option<&str>)>)| {
        let (last, step) = rest.map_or((first, None), |(last, step)| (last, step));
        let digits = if first.starts_with('0') { first.len() } else { 1 };
        let range = Range { first: number(first)?, last: number(last)?, step: number(step.unwrap_or("1"))?, digits };
        if range.last < range.first {
            return Err(format!("the range {first}-{last} ends before it begins"));
        }
        if range.step == 0 {
            return Err("a step of 0 never ends".to_owned());
        }
        Ok(range)
    })
    .parse(input)
}

fn number(digits: &str) -> Result<u64, String> {
    if digits.len() > MAX_DIGITS {
        return Err(format!("a number may have {MAX_DIGITS} digits, found {}", digits.len()));
    }
    digits.parse().map_err(|err| format!("{digits}: {err}"))
}

/// How many a part stands for.
fn numbers(part: &Part<'_>) -> u64 {
    match part {
        Part::Text(_) => 1,
        Part::Ranges(ranges) => {
            let count = |range: &Range| (range.last - range.first) / range.step + 1;
            ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(count(range)))
        }
    }
}

/// All names, the last range counting fastest.
fn expand(parts: &[Part<'_>]) -> Vec<String> {
    parts.iter().fold(vec![String::new()], |names, part| match part {
        Part::Text(text) => names.into_iter().map(|name| name + text).collect(),
        Part::Ranges(ranges) => names.iter().flat_map(|name| numbered(name, ranges)).collect(),
    })
}

fn numbered(name: &str, ranges: &[Range]) -> Vec<String> {
    let mut out = Vec::new();
    for Range { first, last, step, digits } in ranges {
        let mut number = *first;
        while number <= *last {
            out.push(format!("{name}{number:0digits$}"));
            number += step;
        }
    }
    out
}
