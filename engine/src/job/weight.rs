//! What a job counts for where the memory is bounded that jobs take: one, and one more with each so many bytes of what it
//! asks for. It may name thousands of nodes.

use crate::job::spec::JobSpec;
use crate::unit::id::JobId;
use crate::unit::id::UserId;
use crate::unit::id::WorkspaceId;

/// With how many bytes more a job counts for one more.
const BYTES_OF_ONE: u64 = 256;
/// What a kind of pods counts for, in bytes.
const KIND_BYTES: u64 = 80;
/// What a node that a job names counts for, in bytes.
const NODE_BYTES: u64 = 4;

/// What a job counts for.
#[must_use]
pub fn of(spec: &JobSpec) -> u64 {
    let JobSpec { id, workspace, user, name, shape, .. } = spec;
    let nodes = shape.nodes();
    let [workspace, user] = [workspace.as_ref().map(WorkspaceId::as_str), user.as_ref().map(UserId::as_str)];
    let texts = [workspace, user, name.as_deref(), nodes.gpu_type.as_deref()];
    of_parts(id, texts, shape.roles().len(), nodes.only.len() + nodes.without.len() + nodes.passed_over.len())
}

/// What a job counts for with these texts, and so many kinds of pods and named nodes.
#[must_use]
pub fn of_parts(id: &JobId, texts: [Option<&str>; 4], kinds: usize, nodes: usize) -> u64 {
    let bytes = texts.into_iter().flatten().map(str::len).sum::<usize>() + id.as_bytes().len();
    let bytes = (bytes as u64).saturating_add(kinds as u64 * KIND_BYTES).saturating_add(nodes as u64 * NODE_BYTES);
    1 + bytes / BYTES_OF_ONE
}
