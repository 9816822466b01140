//! Which part of the engine carries out which command.

use autokit_api::commands::{
    AcceptProposal, AcceptProposals, AddMarketSource, AddServer, AddSubscription, Ask, CancelSession,
    CheckCard, CheckSubscriptions, Command, CommentProposal, Context, CreateCard, DeleteCards, DescribeCard,
    Export, FetchPages, ForgetKey, GetCard, GetCheckSettings, GetFacets, GetHistory, GetPage, GetProposal,
    GetProviders, GetReviewPolicy, GetSession, GetVerification, GiveFeedback, Handle, InstallFromMarket,
    KeepSecret, ListApiKeys, ListCards, ListImports, ListKeys, ListMarketSources, ListModels, ListProposals,
    ListServers, ListSessions, ListSubscriptions, LoadStarter, MakeKey, PreviewAccept, PreviewExport,
    PreviewImport, ProposeFinding, PullModel, ReadServers, RefreshServer, RejectProposal, RemoveApiKey,
    RemoveMarketSource, RemoveServer, RemoveSubscription, ReopenProposal, ResetSpending, RestoreCard, Search,
    SearchMarket, SetApiKey, SetCheckSettings, SetKeyTrust, SetProviders, SetReviewPolicy, SignBundle,
    StartAsk, StartDiscover, StartImport, StartVerify, TestConnection, Undo, UndoImport, UpdateCard,
    UseModel, WaitSession,
};
use autokit_error::Result;

use super::Engine;

macro_rules! route {
    ($($part:ident: $($command:ident),+;)+) => {
        $($(
            impl Handle<$command> for Engine {
                async fn handle(
                    &self,
                    context: &Context,
                    request: <$command as Command>::Request,
                ) -> Result<<$command as Command>::Response> {
                    Handle::<$command>::handle(&self.core.$part, context, request).await
                }
            }
        )+)+
    };
}

route! {
    agent: CancelSession, GetSession, GiveFeedback, ListSessions, ProposeFinding, StartAsk, StartDiscover,
        WaitSession;
    api_keys: ListApiKeys, RemoveApiKey, SetApiKey;
    checking: GetCheckSettings, GetVerification, SetCheckSettings, StartVerify;
    market: AddMarketSource, InstallFromMarket, ListMarketSources, RemoveMarketSource, SearchMarket;
    bundle_keys: ForgetKey, ListKeys, MakeKey, SetKeyTrust;
    catalogue: CheckCard, GetCard, GetFacets, ListCards;
    decisions: AcceptProposal, AcceptProposals, CommentProposal, GetReviewPolicy, PreviewAccept,
        RejectProposal, ReopenProposal, SetReviewPolicy;
    editing: CreateCard, DeleteCards, GetHistory, RestoreCard, Undo, UndoImport, UpdateCard;
    exports: Export, PreviewExport, SignBundle;
    imports: ListImports, LoadStarter, PreviewImport, StartImport;
    models: ListModels, PullModel, UseModel;
    pages: FetchPages, GetPage;
    proposals: DescribeCard, GetProposal, ListProposals;
    providers: GetProviders, KeepSecret, ResetSpending, SetProviders, TestConnection;
    search: Ask, Search;
    servers: AddServer, ListServers, ReadServers, RefreshServer, RemoveServer;
    subscriptions: AddSubscription, CheckSubscriptions, ListSubscriptions, RemoveSubscription;
}
