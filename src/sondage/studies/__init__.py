"""From a pool and a question to an answer: in memory, kept in a database, or over slices.

    pool -> belief -> measure's influence -> design (sizes) -> draw -> labels -> estimate

`planning.make_plan` leads from the pool to sizes, `planning.draw_stage` draws by them, in one of the ways of `drawing`.
`session.Session` is the one state machine: it opens stages, and is asked for items and told their labels.
`responses.labelled` makes samples of what was answered, and `answers` (of many models `selecting`) estimates of these,
with their errors (`uncertainty`) and what a reader must know (`remarks`).

`evaluate` goes through a session in memory, `sliced` through one for each slice; a `study` keeps one in a database,
where people take items (`claims`), answer them (`desk`) and look at what is known so far (`account`).
"""
