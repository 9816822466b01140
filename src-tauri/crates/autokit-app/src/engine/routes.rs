//! Routes each command to the part of the engine that handles it.

use async_trait::async_trait;
use autokit_api::commands::{
    AcceptMissingChanges, AcceptProposal, AcceptProposals, AddMarketSource, AddMemory, AddServer,
    AddSubscription, AddVariant, AnswerApproval, Ask, AssignProposal, CancelJob, CancelSession,
    ChangeCollection, ChangeMember, ChangeProfile, CheckCard, CheckSubscriptions, Command, CommentProposal,
    ConnectAgent, Context, CountUnsent, CreateBackup, CreateCard, CreateTeam, DeleteCards, DeleteSessions,
    DescribeCard, DisconnectAgent, DismissDuplicates, EditCards, EndVariants, Export, ExportPersonalization,
    ExportTeam, FetchPages, FindDuplicates, ForgetKey, GenerateTool, GetActivity, GetAgentsHttp, GetAudit,
    GetCard, GetCardSharing, GetCheckSettings, GetFacets, GetGeneration, GetHealth, GetHistory, GetPage,
    GetPersonalization, GetProposal, GetProviders, GetRefineState, GetReviewPolicy, GetSession, GetStarter,
    GetTeam, GetTeamCards, GetTeamDirectory, GetTeamPolicy, GetTool, GetToolOutcome, GetVerification,
    GiveFeedback, Handle, ImportTeam, InspectBackup, InstallFromMarket, InviteMember, JoinTeam,
    LearnPersonalization, LeaveTeam, ListApiKeys, ListBackups, ListCards, ListClients, ListCodeTools,
    ListCollections, ListDuplicates, ListGeneratedTools, ListImports, ListJobs, ListKeys, ListLanguageModels,
    ListLibraries, ListMarketSources, ListMembers, ListMemory, ListModels, ListProfiles, ListProposals,
    ListRecordedCalls, ListServers, ListSessions, ListSubscriptions, ListTeamActivity, ListTeamAudit,
    ListTeams, ListTools, ListVariants, ListVocabulary, LoadStarter, MakeKey, MergeCards, MoveTeam, PauseJob,
    PreviewAccept, PreviewExport, PreviewImport, PreviewMerge, ProposeCodeTools, ProposeFinding,
    ProposeMacro, PullModel, ReadServers, Redo, RefreshMemory, RefreshServer, RejectProposal, RemoveApiKey,
    RemoveCollection, RemoveMarketSource, RemoveMemory, RemoveProfile, RemoveServer, RemoveSubscription,
    RemoveVocabulary, RenameCollection, RenewAgentsHttp, ReopenProposal, ResetPersonalization, ResetSpending,
    RestoreBackup, RestoreCard, RetireTool, RunDoctor, RunTool, Search, SearchLibraries, SearchMarket,
    SearchMemory, SetAgentSessions, SetAgentsHttp, SetApiKey, SetCheckSettings, SetKeyTrust,
    SetLibrarySearched, SetNewCards, SetPersonalization, SetProfile, SetProviders, SetReviewPolicy,
    SetSecret, SetTeamCards, SetTeamPolicy, SetVariant, SetVocabulary, ShareCardsWith, SignBundle, StartAsk,
    StartDiscover, StartImport, StartRefine, StartResearch, StartVerify, SyncTeam, TestConnection, Undo,
    UndoImport, UpdateCard, UpgradeTeam, UseModel, WaitApprovals, WaitJob, WaitSession,
};
use autokit_error::Result;

use super::Engine;

macro_rules! route {
    ($part:ident: $($command:ident),+) => { $(route!(@ $command => $part);)+ };
    ($part:ident.$member:ident: $($command:ident),+) => { $(route!(@ $command => $part.$member);)+ };
    (@ $command:ident => $($path:ident).+) => {
        #[async_trait]
        impl Handle<$command> for Engine {
            async fn handle(
                &self,
                context: &Context,
                request: <$command as Command>::Request,
            ) -> Result<<$command as Command>::Response> {
                Handle::<$command>::handle(&self.$($path).+, context, request).await
            }
        }
    };
}

route!(
    asking.agent:
        CancelSession, DeleteSessions, GetSession, GiveFeedback, ListSessions, ProposeFinding, StartAsk, StartDiscover,
        StartResearch, WaitSession
);
route!(connections.api_keys: ListApiKeys, RemoveApiKey, SetApiKey);
route!(cards.checking: GetCheckSettings, GetHealth, GetVerification, SetCheckSettings, StartVerify);
route!(
    connections.market:
        AddMarketSource, InstallFromMarket, ListMarketSources, RemoveMarketSource, SearchMarket
);
route!(
    exchange.teams:
        CountUnsent, CreateTeam, ExportTeam, ImportTeam, JoinTeam, LeaveTeam, ListTeams, MoveTeam, UpgradeTeam
);
route!(
    exchange.team:
        ChangeMember, GetCardSharing, GetTeam, GetTeamCards, GetTeamDirectory, GetTeamPolicy, InviteMember, ListMembers,
        ListTeamActivity, ListTeamAudit, SetNewCards, SetTeamCards, SetTeamPolicy, ShareCardsWith, SyncTeam
);
route!(exchange.bundle_keys: ForgetKey, ListKeys, MakeKey, SetKeyTrust);
route!(cards.catalogue: CheckCard, GetCard, GetFacets, GetStarter, ListCards);
route!(cards.collections: ChangeCollection, ListCollections, RemoveCollection, RenameCollection);
route!(cards.duplicates: DismissDuplicates, FindDuplicates, ListDuplicates, MergeCards, PreviewMerge);
route!(
    review.decisions:
        AcceptProposal, AcceptProposals, AssignProposal, CommentProposal, GetReviewPolicy, PreviewAccept,
        RejectProposal, ReopenProposal, SetReviewPolicy
);
route!(
    cards.editing:
        CreateCard, DeleteCards, EditCards, GetHistory, Redo, RestoreCard, Undo, UndoImport, UpdateCard
);
route!(exchange.exports: Export, PreviewExport, SignBundle);
route!(
    asking.learning:
        ExportPersonalization, GetPersonalization, LearnPersonalization, ResetPersonalization, SetPersonalization
);
route!(exchange.vocabulary: ListVocabulary, RemoveVocabulary, SetVocabulary);
route!(exchange.imports: ListImports, LoadStarter, PreviewImport, StartImport);
route!(asking.memory: AddMemory, ListMemory, RefreshMemory, RemoveMemory, SearchMemory);
route!(models: ListModels, PullModel, UseModel);
route!(cards.pages: FetchPages, GetPage);
route!(review.proposals: DescribeCard, GetProposal, ListProposals);
route!(lifecycle.code_cards: ListCodeTools, ProposeCodeTools);
route!(lifecycle.generated: GenerateTool, GetGeneration, ListGeneratedTools, RetireTool);
route!(lifecycle.macros: ListRecordedCalls, ProposeMacro);
route!(lifecycle.variants: AddVariant, EndVariants, ListVariants, SetVariant);
route!(lifecycle.refining: GetRefineState, StartRefine);
route!(providers: GetProviders, ListLanguageModels, SetSecret, ResetSpending, SetProviders, TestConnection);
route!(asking.search: Ask, Search);
route!(asking.federation: ListLibraries, SearchLibraries, SetLibrarySearched);
route!(connections.servers: AddServer, ListServers, ReadServers, RefreshServer, RemoveServer);
route!(
    exchange.subscriptions:
        AddSubscription, CheckSubscriptions, ListSubscriptions, RemoveSubscription
);
route!(workspace.jobs: CancelJob, ListJobs, PauseJob, WaitJob);
route!(mcp.profiles: ChangeProfile, ListProfiles, RemoveProfile, SetAgentSessions, SetProfile);
route!(mcp.approvals: AnswerApproval, WaitApprovals);
route!(mcp.address: GetAgentsHttp, RenewAgentsHttp, SetAgentsHttp);
route!(mcp.clients: ConnectAgent, DisconnectAgent, ListClients);
route!(mcp.tool_runs: GetTool, GetToolOutcome, ListTools, RunTool);
route!(mcp.activity: GetActivity, GetAudit);
route!(maintenance.backups: AcceptMissingChanges, CreateBackup, InspectBackup, ListBackups, RestoreBackup);
route!(maintenance.diagnostics: RunDoctor);
