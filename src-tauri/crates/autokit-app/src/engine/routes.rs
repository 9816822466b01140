//! Which part of the engine carries out which command.

use autokit_api::commands::{
    AcceptProposal, AcceptProposals, AddServer, AddSubscription, Ask, CheckCard, CheckSubscriptions, Command,
    CommentProposal, Context, CreateCard, DeleteCards, DescribeCard, Export, FetchPages, ForgetKey, GetCard,
    GetFacets, GetHistory, GetPage, GetProposal, GetProviders, GetReviewPolicy, Handle, KeepSecret,
    ListCards, ListImports, ListKeys, ListModels, ListProposals, ListServers, ListSubscriptions, LoadStarter,
    MakeKey, PreviewAccept, PreviewExport, PreviewImport, PullModel, ReadServers, RefreshServer,
    RejectProposal, RemoveServer, RemoveSubscription, ReopenProposal, ResetSpending, RestoreCard, Search,
    SetKeyTrust, SetProviders, SetReviewPolicy, SignBundle, StartImport, TestConnection, Undo, UndoImport,
    UpdateCard, UseModel,
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
