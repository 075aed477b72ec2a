//! The console: a replica of the engine in the browser, and what people see of it.

#![expect(unreachable_pub, reason = "the component macro makes public properties of components that are not")]

mod api;
mod pages;
mod session;
mod widgets;

fn main() {
    console_error_panic_hook::set_once();
    api::key::take_from_address();
    leptos::mount::mount_to_body(pages::app::App);
    // The page itself says that it is loading; if what is above fails, it says that.
    api::browser::remove("first");
}
