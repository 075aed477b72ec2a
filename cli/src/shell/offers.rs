//! `tidegate offers`: the spot market as it stands.

use console_model::offers;
use console_model::offers::OfferRow;

use crate::service::time;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::table::Cell;
use crate::shell::table::Column;
use crate::shell::table::Table;

const COLUMNS: [Column; 8] = [
    Column::words("offer", "OFFER"),
    Column::words("machines", "MACHINES"),
    Column::number("price", "PRICE"),
    Column::number("average", "AVERAGE"),
    Column::number("free", "FREE"),
    Column::number("inventory", "INVENTORY"),
    Column::number("waiting", "BIDS"),
    Column::number("running", "RUNNING"),
];

/// Prints them.
pub fn offers(at: &At) -> Result<(), Failure> {
    let mut person = Person::of(at.context.as_deref())?;
    let state = person.state()?;
    let row = |row: OfferRow| {
        let OfferRow { name, no, machines, price, average, free, inventory, n_waiting, n_running } = row;
        let micros = state.market.offers[no.at()].course.price();
        vec![
            Cell::of(&name),
            Cell::of(&machines),
            Cell::with(price, micros),
            Cell::of(&average),
            Cell::with(free.to_string(), free),
            Cell::with(inventory.to_string(), inventory),
            Cell::with(n_waiting.to_string(), n_waiting),
            Cell::with(n_running.to_string(), n_running),
        ]
    };
    let rows = offers::rows(&state, time::now()).into_iter().map(row).collect();
    print::table(&Table { columns: &COLUMNS, rows, empty: "No offers." }, at.output)
}
