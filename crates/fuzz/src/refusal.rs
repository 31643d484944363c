//! What a refusal has to say.

use contract::Problem;

/// It has one of these codes, says what to do, and says nothing of ours.
pub(crate) fn is_proper(problem: &Problem, codes: &[&str]) {
    assert!(codes.contains(&problem.code.as_str()), "{problem:?}");
    assert!(matches!(problem.status, 400 | 422), "{problem:?}");
    assert!(problem.kind.ends_with(&format!("#{}", problem.code)), "{problem:?}");
    assert!(!problem.title.is_empty() && !problem.detail.is_empty(), "{problem:?}");
    // A value is at fault: whose is said.
    let named = problem.field.as_ref().is_some_and(|field| !field.is_empty());
    assert!(named || problem.status == 400, "{problem:?}");
    let words = [Some(&problem.detail), problem.field.as_ref()];
    assert!(!words.into_iter().flatten().any(|text| payment::has_card_number(text)), "{problem:?}");
}
