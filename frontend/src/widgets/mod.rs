//! What is seen: one component to a file. Views take values and callbacks; they know no address.

pub(crate) mod choice;
pub(crate) mod consequences;
pub(crate) mod copy_button;
pub(crate) mod empty_cluster;
pub(crate) mod field;
pub(crate) mod freshness_mark;
pub(crate) mod job_table;
pub(crate) mod key_form;
pub(crate) mod loan_list;
pub(crate) mod notice_list;
pub(crate) mod overview;
pub(crate) mod pick_set;
pub(crate) mod policy_form;
pub(crate) mod queue_list;
pub(crate) mod quota_bar;
pub(crate) mod quota_tree;
pub(crate) mod scale_form;
pub(crate) mod scroller;
pub(crate) mod search_box;
pub(crate) mod shortcuts;
pub(crate) mod state_mark;
pub(crate) mod submit_form;
pub(crate) mod theme_choice;
pub(crate) mod timeline;
pub(crate) mod why_panel;
