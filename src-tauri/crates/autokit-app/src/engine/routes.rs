//! Which part of the engine carries out which command.

use autokit_api::commands::{
    Ask, Command, Context, FetchPages, GetPage, GetProviders, Handle, KeepSecret, ListModels, PullModel,
    ResetSpending, Search, SetProviders, TestConnection, UseModel,
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
    models: ListModels, PullModel, UseModel;
    pages: FetchPages, GetPage;
    providers: GetProviders, KeepSecret, ResetSpending, SetProviders, TestConnection;
    search: Ask, Search;
}
