//! Every address that the console asks for or links to, so that a path is written once.

use std::fmt::Write;

/// An address of the native surface.
#[must_use]
pub fn api(cluster: &str, rest: &str) -> String {
    format!("/v1/clusters/{}/{rest}", escape(cluster))
}

/// A cluster's main screen.
#[must_use]
pub fn cluster(cluster: &str) -> String {
    format!("/clusters/{}", escape(cluster))
}

/// A quota's page.
#[must_use]
pub fn quota(cluster: &str, quota: &str) -> String {
    format!("{}/quotas/{}", self::cluster(cluster), escape(quota))
}

/// The guided set-up.
#[must_use]
pub fn set_up(cluster: &str) -> String {
    format!("{}/set-up", self::cluster(cluster))
}

/// The jobs' table.
#[must_use]
pub fn jobs(cluster: &str) -> String {
    format!("{}/jobs", self::cluster(cluster))
}

/// The jobs' table with one of its filters set.
#[must_use]
pub fn jobs_where(cluster: &str, filter: &str, value: &str) -> String {
    format!("{}?{filter}={}", jobs(cluster), escape(value))
}

/// A job's page.
#[must_use]
pub fn job(cluster: &str, job: &str) -> String {
    format!("{}/{}", jobs(cluster), escape(job))
}

/// The submit form.
#[must_use]
pub fn submit(cluster: &str) -> String {
    format!("{}/submit", self::cluster(cluster))
}

/// The submit form for a quota.
#[must_use]
pub fn submit_to(cluster: &str, quota: &str) -> String {
    format!("{}?quota={}", submit(cluster), escape(quota))
}

/// The spot market.
#[must_use]
pub fn market(cluster: &str) -> String {
    format!("{}/market", self::cluster(cluster))
}

/// The spot market with one of its offers open.
#[must_use]
pub fn offer(cluster: &str, offer: &str) -> String {
    format!("{}?offer={}", market(cluster), escape(offer))
}

/// The planner.
#[must_use]
pub fn planner(cluster: &str) -> String {
    format!("{}/planner", self::cluster(cluster))
}

/// A plan that somebody shares.
#[must_use]
pub fn shared_plan(link: &str) -> String {
    format!("/planner#plan={link}")
}

/// The bills.
#[must_use]
pub fn bills(cluster: &str) -> String {
    format!("{}/bills", self::cluster(cluster))
}

/// The workspaces.
#[must_use]
pub fn workspaces(cluster: &str) -> String {
    format!("{}/workspaces", self::cluster(cluster))
}

/// A workspace's page.
#[must_use]
pub fn workspace(cluster: &str, workspace: &str) -> String {
    format!("{}/{}", workspaces(cluster), escape(workspace))
}

/// Access keys.
#[must_use]
pub fn keys(cluster: &str) -> String {
    format!("{}/keys", self::cluster(cluster))
}

/// Who did what.
#[must_use]
pub fn audit(cluster: &str) -> String {
    format!("{}/audit", self::cluster(cluster))
}

/// The machines.
#[must_use]
pub fn nodes(cluster: &str) -> String {
    format!("{}/nodes", self::cluster(cluster))
}

/// The machines with one of them open.
#[must_use]
pub fn node(cluster: &str, node: &str) -> String {
    nodes_where(cluster, &[("node", node)])
}

/// The machines with some of the page's choices made; empty ones are left out.
#[must_use]
pub fn nodes_where(cluster: &str, choices: &[(&str, &str)]) -> String {
    let made = choices.iter().filter(|(_, value)| !value.is_empty());
    let made = made.map(|(name, value)| format!("{name}={}", escape(value))).collect::<Vec<_>>().join("&");
    if made.is_empty() { nodes(cluster) } else { format!("{}?{made}", nodes(cluster)) }
}

/// The last rounds.
#[must_use]
pub fn rounds(cluster: &str) -> String {
    format!("{}/rounds", self::cluster(cluster))
}

/// A name as one segment of a path or one value of a query.
#[must_use]
pub fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_one_segment() {
        assert_eq!(quota("demo", "a/b c?"), "/clusters/demo/quotas/a%2Fb%20c%3F");
    }

    #[test]
    fn choices_that_are_not_made_are_not_in_the_address() {
        assert_eq!(
            nodes_where("demo", &[("q", ""), ("group", "a b"), ("node", "n1")]),
            "/clusters/demo/nodes?group=a%20b&node=n1"
        );
        assert_eq!(nodes_where("demo", &[("q", "")]), nodes("demo"));
    }

    #[test]
    fn usual_names_stay_readable() {
        assert_eq!(job("demo", "train-1.2"), "/clusters/demo/jobs/train-1.2");
    }
}
