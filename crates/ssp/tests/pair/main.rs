//! Two ends over a virtual path: convergence, timelines, limits, the end of a session.

mod candidates;
mod carriage;
mod converge;
mod fake;
mod far;
mod heartbeat;
mod held;
mod late_ack;
mod limits;
mod note;
mod pair;
mod paste;
mod path_size;
mod picture;
mod referee;
mod repair;
mod repetition;
mod replay;
mod schedule;
mod shutdown;
mod side_path;
mod steady;
mod timeline;
