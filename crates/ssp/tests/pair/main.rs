//! Two ends over a virtual path: convergence, timelines, limits, the end of a session.

mod converge;
mod note;
mod pair;
mod paste;
