//! The fields of the submit form that bid on the spot market.

use engine::market::bid::Framework;
use leptos::prelude::*;

use crate::widgets::choice::Choice;
use crate::widgets::field::TextField;
use console_model::job_draft::JobDraft;
use console_model::spot_draft::BidKind;
use console_model::spot_draft::SpotDraft;

/// An offer that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OfferChoice {
    /// Its name.
    pub(crate) name: String,
    /// Whether its machines are Lingjun.
    pub(crate) is_lingjun: bool,
    /// Its price now, in words.
    pub(crate) price: String,
}

/// Where the job runs: on a quota, or on one of the offers.
#[component]
pub(crate) fn SourceChoice(
    /// What has been typed.
    draft: RwSignal<JobDraft>,
    /// The offers there are.
    offers: Memo<Vec<OfferChoice>>,
) -> impl IntoView {
    let options = Signal::derive(move || {
        let first = std::iter::once((String::new(), "A quota".to_owned()));
        let offers = offers.get().into_iter().map(|offer| {
            let words = format!("Spot: {}, now {}", offer.name, offer.price);
            (offer.name, words)
        });
        first.chain(offers).collect::<Vec<_>>()
    });
    let choose = Callback::new(move |name: String| {
        let is_lingjun =
            offers.with_untracked(|offers| offers.iter().any(|offer| offer.name == name && offer.is_lingjun));
        draft.update(|draft| draft.spot.choose(name, is_lingjun));
    });
    let value = Signal::derive(move || draft.with(|draft| draft.spot.offer.clone()));
    view! { <div hidden=move || offers.with(Vec::is_empty)><Choice id="source" label="Runs on" options=options value=value change=choose /></div> }
}

/// The bid, the framework and the network.
#[component]
pub(crate) fn SpotFields(
    /// What has been typed.
    draft: RwSignal<JobDraft>,
    /// The offers there are.
    offers: Memo<Vec<OfferChoice>>,
    /// What is wrong with the price.
    #[prop(into)]
    fault: Signal<Option<String>>,
) -> impl IntoView {
    let read = move |read: fn(&SpotDraft) -> String| Signal::derive(move || draft.with(|draft| read(&draft.spot)));
    let write = move |write: fn(&mut SpotDraft, String)| {
        Callback::new(move |text: String| draft.update(|draft| write(&mut draft.spot, text)))
    };
    let bids = Signal::derive(move || {
        let name = draft.with(|draft| draft.spot.offer.clone());
        let is_lingjun = offers.with(|offers| offers.iter().any(|offer| offer.name == name && offer.is_lingjun));
        BidKind::all(is_lingjun).into_iter().map(|kind| (kind.name(), kind.words())).collect::<Vec<_>>()
    });
    let frameworks = [Framework::Pytorch, Framework::Mpi, Framework::Other]
        .map(|framework| (framework.as_str().to_owned(), framework.as_str().to_owned()));
    view! {
        <div class="form-row">
            <Choice id="bid" label="Bid" options=bids value=read(|spot| spot.bid.name()) change=write(|spot, text| spot.bid = BidKind::parse(&text)) />
            <div hidden=move || draft.with(|draft| draft.spot.bid != BidKind::Price)>
                <TextField id="price" label="Price limit" value=read(|spot| spot.price.clone()) change=write(|spot, text| spot.price = text) fault=fault hint="for an instance-minute" is_short=true />
            </div>
            <Choice id="framework" label="Framework" options=Signal::stored(Vec::from(frameworks)) value=read(|spot| spot.framework.as_str().to_owned()) change=write(|spot, text| spot.framework = framework(&text)) />
        </div>
        <div class="form-row">
            <TextField id="vpc" label="VPC" value=read(|spot| spot.vpc.clone()) change=write(|spot, text| spot.vpc = text) hint="Lingjun needs it" is_short=true />
            <TextField id="vswitch" label="vSwitch" value=read(|spot| spot.vswitch.clone()) change=write(|spot, text| spot.vswitch = text) hint="Lingjun needs it" is_short=true />
            <TextField id="security-group" label="Security group" value=read(|spot| spot.security_group.clone()) change=write(|spot, text| spot.security_group = text) hint="Lingjun needs it" is_short=true />
        </div>
    }
}

fn framework(name: &str) -> Framework {
    let all = [Framework::Pytorch, Framework::Mpi, Framework::Other];
    all.into_iter().find(|framework| framework.as_str() == name).unwrap_or_default()
}
