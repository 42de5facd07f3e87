package backend

import (
	"atelier.dev/atelier/agent"
)

// ProblemID identifies a problem for translation: the page has the same
// sentences for each id. Stored events carry ids, so an id never changes its
// meaning.
type ProblemID string

const (
	// Problems of any part.
	ProblemInternal    ProblemID = "internal"
	ProblemMethod      ProblemID = "method"
	ProblemArguments   ProblemID = "arguments"
	ProblemListen      ProblemID = "listen"
	ProblemLinkInvalid ProblemID = "link_invalid"
	ProblemLinkHere    ProblemID = "link_here"

	// Problems of the project folder, with its path.
	ProblemFolderUnusable ProblemID = "folder_unusable"
	ProblemFolderMissing  ProblemID = "folder_missing"
	ProblemFolderUnopened ProblemID = "folder_unopened"
	ProblemFolderUnread   ProblemID = "folder_unread"
	ProblemFolderIsFile   ProblemID = "folder_is_file"

	// Problems of opening another project, with its path.
	ProblemProjectPath     ProblemID = "project_path"
	ProblemProjectHere     ProblemID = "project_here"
	ProblemProjectServed   ProblemID = "project_served"
	ProblemProjectUnopened ProblemID = "project_unopened"
	ProblemPickFolder      ProblemID = "pick_folder"

	// Problems of sessions.
	ProblemSessionMissing   ProblemID = "session_missing"
	ProblemSessionUnnamed   ProblemID = "session_unnamed"
	ProblemSessionUndeleted ProblemID = "session_undeleted"
	ProblemSessionWorking   ProblemID = "session_working"
	ProblemSessionClosing   ProblemID = "session_closing"
	ProblemSessionWaits     ProblemID = "session_waits"
	ProblemSessionElsewhere ProblemID = "session_elsewhere"
	ProblemSessionForeign   ProblemID = "session_foreign"
	ProblemSessionNone      ProblemID = "session_none"
	ProblemSessionTaken     ProblemID = "session_taken"

	// Problems of a conversation.
	ProblemMessageEmpty      ProblemID = "message_empty"
	ProblemCommandEmpty      ProblemID = "command_empty"
	ProblemTurnComplete      ProblemID = "turn_complete"
	ProblemTurnUnsaved       ProblemID = "turn_unsaved"
	ProblemNothingToCompact  ProblemID = "nothing_to_compact"
	ProblemHistoryRange      ProblemID = "history_range"
	ProblemEventMissing      ProblemID = "event_missing"
	ProblemAnswerInvalid     ProblemID = "answer_invalid"
	ProblemApprovalElsewhere ProblemID = "approval_elsewhere"
	ProblemApprovalAnswered  ProblemID = "approval_answered"
	ProblemMessageDelivered  ProblemID = "message_delivered"
	ProblemQueueVerb         ProblemID = "queue_verb"
	ProblemQueueEmpty        ProblemID = "queue_empty"
	ProblemTaskUnknown       ProblemID = "task_unknown"
	ProblemTaskPort          ProblemID = "task_port"
	ProblemAttachLarge       ProblemID = "attach_large"

	// Problems of servers' questions, and of slash commands, with the command's name
	// first.
	ProblemServerQuestionGone ProblemID = "server_question_gone"
	ProblemServerAnswer       ProblemID = "server_answer"
	ProblemCommandUnknown     ProblemID = "command_unknown"
	ProblemCommandArgument    ProblemID = "command_argument"
	ProblemSlashUnknown       ProblemID = "slash_unknown"
	ProblemSlashMistyped      ProblemID = "slash_mistyped"
	ProblemCommandFailed      ProblemID = "command_failed"

	// Problems of settings.
	ProblemModelUnchosen   ProblemID = "model_unchosen"
	ProblemLimitNegative   ProblemID = "limit_negative"
	ProblemModeUnknown     ProblemID = "mode_unknown"
	ProblemCommandTimeout  ProblemID = "command_timeout"
	ProblemPatience        ProblemID = "patience"
	ProblemAgentCaps       ProblemID = "agent_caps"
	ProblemCompactUnknown  ProblemID = "compact_unknown"
	ProblemToolUnknown     ProblemID = "tool_unknown"
	ProblemBypassByDefault ProblemID = "bypass_by_default"
	ProblemFontSize        ProblemID = "font_size"
	ProblemFontName        ProblemID = "font_name"
	ProblemSettingDamaged  ProblemID = "setting_damaged"

	// Problems of the database, with its path or that of its folder.
	ProblemHomeUnusable  ProblemID = "home_unusable"
	ProblemStoreUnopened ProblemID = "store_unopened"
	ProblemStoreLocked   ProblemID = "store_locked"
	ProblemStoreDamaged  ProblemID = "store_damaged"
	ProblemStoreNewer    ProblemID = "store_newer"
	ProblemStoreFailed   ProblemID = "store_failed"
	ProblemStoreFull     ProblemID = "store_full"
	ProblemEventUnread   ProblemID = "event_unread"

	// Problems of providers and models, with the provider's name first.
	ProblemProviderUnknown ProblemID = "provider_unknown"
	ProblemAddressMissing  ProblemID = "address_missing"
	ProblemAddressDamaged  ProblemID = "address_damaged"
	ProblemKeyMissing      ProblemID = "key_missing"
	ProblemKeyMissingOrSet ProblemID = "key_missing_or_set"
	ProblemModelUnlisted   ProblemID = "model_unlisted"
	ProblemModelsFile      ProblemID = "models_file"

	// Problems of keys and addresses, with the provider's name first, if there
	// is one.
	ProblemKeyUnread        ProblemID = "key_unread"
	ProblemKeyUnreadOrSet   ProblemID = "key_unread_or_set"
	ProblemKeyGarbled       ProblemID = "key_garbled"
	ProblemKeyUnsaved       ProblemID = "key_unsaved"
	ProblemKeyUnsavedOrSet  ProblemID = "key_unsaved_or_set"
	ProblemKeyUnremoved     ProblemID = "key_unremoved"
	ProblemKeyOfOther       ProblemID = "key_of_other"
	ProblemKeyNotOwn        ProblemID = "key_not_own"
	ProblemKeyOfEnvironment ProblemID = "key_of_environment"
	ProblemAddressInvalid   ProblemID = "address_invalid"
	ProblemAddressPassword  ProblemID = "address_password"
	ProblemAddressQuery     ProblemID = "address_query"

	// Problems of the user's own endpoints.
	ProblemEndpointNotHere     ProblemID = "endpoint_not_here"
	ProblemEndpointMissing     ProblemID = "endpoint_missing"
	ProblemEndpointsFull       ProblemID = "endpoints_full"
	ProblemEndpointUnnamed     ProblemID = "endpoint_unnamed"
	ProblemEndpointUnaddressed ProblemID = "endpoint_unaddressed"
	ProblemHeadersFull         ProblemID = "headers_full"
	ProblemHeaderReserved      ProblemID = "header_reserved"
	ProblemHeaderTwice         ProblemID = "header_twice"
	ProblemHeaderValue         ProblemID = "header_value"
	ProblemHeaderEmpty         ProblemID = "header_empty"
	ProblemBodyInvalid         ProblemID = "body_invalid"
	ProblemBodyReserved        ProblemID = "body_reserved"

	// Problems of the changes of a folder, and of opening its files.
	ProblemChangesNoGit         ProblemID = "changes_no_git"
	ProblemChangesNoRepository  ProblemID = "changes_no_repository"
	ProblemChangesRefused       ProblemID = "changes_refused"
	ProblemChangesOutside       ProblemID = "changes_outside"
	ProblemChangesVanished      ProblemID = "changes_vanished"
	ProblemChangesUnreadable    ProblemID = "changes_unreadable"
	ProblemChangesNoText        ProblemID = "changes_no_text"
	ProblemChangesTooLarge      ProblemID = "changes_too_large"
	ProblemChangesChanged       ProblemID = "changes_changed"
	ProblemChangesAmbiguous     ProblemID = "changes_ambiguous"
	ProblemChangesOccupied      ProblemID = "changes_occupied"
	ProblemChangesNotText       ProblemID = "changes_not_text"
	ProblemChangesNotPossible   ProblemID = "changes_not_possible"
	ProblemChangesNotWritten    ProblemID = "changes_not_written"
	ProblemChangesReadOnly      ProblemID = "changes_read_only"
	ProblemChangesHunkInvalid   ProblemID = "changes_hunk_invalid"
	ProblemChangesBaseUnknown   ProblemID = "changes_base_unknown"
	ProblemChangesBaseUnrelated ProblemID = "changes_base_unrelated"
	ProblemChangesFiltered      ProblemID = "changes_filtered"
	ProblemChangesInProgress    ProblemID = "changes_in_progress"
	ProblemChangesNothingStaged ProblemID = "changes_nothing_staged"
	ProblemChangesStagedOutside ProblemID = "changes_staged_outside"
	ProblemChangesConflicts     ProblemID = "changes_conflicts"
	ProblemChangesNoIdentity    ProblemID = "changes_no_identity"
	ProblemChangesNoMessage     ProblemID = "changes_no_message"
	ProblemChangesBranchInvalid ProblemID = "changes_branch_invalid"
	ProblemChangesBranchExists  ProblemID = "changes_branch_exists"
	ProblemChangesLocked        ProblemID = "changes_locked"
	ProblemChangesSlow          ProblemID = "changes_slow"
	ProblemChangesScope         ProblemID = "changes_scope"
	ProblemChangesUnproposed    ProblemID = "changes_unproposed"
	ProblemFileMissing          ProblemID = "file_missing"
	ProblemEditorMissing        ProblemID = "editor_missing"
	ProblemEditorInvalid        ProblemID = "editor_invalid"
	ProblemEditorFailed         ProblemID = "editor_failed"
	ProblemEditorEnded          ProblemID = "editor_ended"
	ProblemEditorAbsent         ProblemID = "editor_absent"
	ProblemEditorNothing        ProblemID = "editor_nothing"
)

// problem has the English sentences of an [Error]. Arguments replace the
// numbers in braces.
type problem struct {
	code                Code
	message, kept, next string
}

const (
	keptAll      = "Nothing was changed."
	keptSettings = "The settings were not changed."
	keptMessage  = "Your message is still in the box."
	keptText     = "Nothing was sent or changed; what you wrote is still in the box."
	nextFolder   = "Name a folder that exists and that you may read."
)

var problems = map[ProblemID]problem{
	ProblemInternal: {
		code: CodeInternal, message: "Something went wrong inside Atelier.",
		kept: "Everything shown so far is saved.", next: "Try again. If it happens again, restart Atelier.",
	},
	ProblemMethod:         {code: CodeNotFound, message: "The method {0} does not exist.", kept: keptAll},
	ProblemArguments:      {code: CodeInvalid, message: "The arguments of {0} are not valid.", kept: keptAll},
	ProblemListen:         {code: CodeInvalid, message: "Atelier cannot listen on {0}.", next: "Choose another port with --addr, or port 0 for a free one."},
	ProblemLinkInvalid:    {code: CodeInvalid, message: "This link is not a web address, so it was not opened."},
	ProblemLinkHere:       {code: CodeInvalid, message: "Atelier cannot open links here.", next: "Open the link in your own browser."},
	ProblemFolderUnusable: {code: CodeFolder, message: "The folder {0} cannot be used.", kept: keptAll, next: nextFolder},
	ProblemFolderMissing:  {code: CodeFolder, message: "The folder {0} does not exist.", kept: keptAll, next: nextFolder},
	ProblemFolderUnopened: {code: CodeFolder, message: "The folder {0} cannot be opened.", kept: keptAll, next: nextFolder},
	ProblemFolderUnread:   {code: CodeFolder, message: "The folder {0} cannot be read.", kept: keptAll, next: nextFolder},
	ProblemFolderIsFile:   {code: CodeFolder, message: "{0} is not a folder.", kept: keptAll, next: nextFolder},
	ProblemProjectPath:    {code: CodeFolder, message: "{0} is not a complete path.", kept: keptAll, next: "Begin the path with / or with ~ for your home folder."},
	ProblemProjectHere:    {code: CodeFolder, message: "{0} is the project of this window.", kept: keptAll},
	ProblemProjectServed: {
		code: CodeBusy, message: "{0} is open in browser mode.", kept: keptAll,
		next: "Go on in that browser, or stop atelier serve there and open the folder again.",
	},
	ProblemProjectUnopened: {code: CodeFolder, message: "{0} could not be opened.", kept: keptAll, next: "Run atelier with this folder in a terminal to see why."},
	ProblemPickFolder:      {code: CodeInternal, message: "The system's folder dialog could not be shown.", kept: keptAll, next: "Run atelier with that folder in a terminal."},
	ProblemSessionMissing:  {code: CodeNotFound, message: "The session {0} does not exist."},
	ProblemSessionUnnamed:  {code: CodeInvalid, message: "The session needs a name.", kept: "It keeps its old name.", next: "Enter a name."},
	ProblemSessionUndeleted: {
		code: CodeBusy, message: "This session, or an agent that it started, is working and cannot be deleted now.",
		kept: "Nothing was deleted.", next: "Stop it first.",
	},
	ProblemSessionWorking: {code: CodeBusy, message: "This session is already working.", kept: keptText, next: "Wait until it is done, or stop it."},
	ProblemSessionClosing: {code: CodeBusy, message: "This session is being closed.", kept: keptText, next: "Try again."},
	ProblemSessionWaits: {
		code: CodeBusy, message: "This session waits for your decision about a call.",
		kept: keptAll, next: "Open it in the window or with atelier serve, and decide there.",
	},
	ProblemSessionElsewhere: {
		code: CodeBusy, message: "Another Atelier is running the session {0}.",
		kept: keptAll, next: "Use it there, or close it there first.",
	},
	ProblemSessionForeign: {
		code: CodeInvalid, message: "This session belongs to the folder {0}.",
		kept: keptAll, next: "Open that folder to go on with it.",
	},
	ProblemSessionNone:  {code: CodeNotFound, message: "This folder has no session to continue.", next: "Leave out --continue to begin one."},
	ProblemMessageEmpty: {code: CodeInvalid, message: "The message is empty.", next: "Type what the agent should do."},
	ProblemCommandEmpty: {code: CodeInvalid, message: "The command is empty.", next: "Type a command after the exclamation mark."},
	ProblemTurnComplete: {code: CodeInvalid, message: "This turn is already complete.", kept: keptAll, next: "Send a message to go on."},
	ProblemTurnUnsaved: {
		code: CodeStoreFailed, message: "The turn was stopped because it could not be saved.",
		kept: "Everything saved before is still there.", next: "Check that the disk is not full and that you may write to Atelier's folder, then try again.",
	},
	ProblemNothingToCompact: {code: CodeInvalid, message: "The conversation is empty, so there is nothing to summarise.", next: "Send a message first."},
	ProblemHistoryRange:     {code: CodeInvalid, message: "A page of the history has either a beginning or an end, not both."},
	ProblemEventMissing:     {code: CodeNotFound, message: "This session has no such event."},
	ProblemAnswerInvalid:    {code: CodeInvalid, message: "The answer is neither allow nor deny.", kept: "The request still waits for an answer."},
	ProblemApprovalElsewhere: {
		code: CodeBusy, message: "This request belongs to a session that is not running here.",
		kept: "It still waits for an answer.", next: "Answer it where the session runs.",
	},
	ProblemAttachLarge: {
		code: CodeInvalid, message: "The file {0} is larger than {1} MB.",
		kept: "Your message is as it was.", next: "Copy the file into the project, and mention it with @.",
	},
	ProblemApprovalAnswered:   {code: CodeNotFound, message: "This request was already answered.", kept: "The first answer counts."},
	ProblemServerQuestionGone: {code: CodeNotFound, message: "This question is no longer waiting.", kept: "It was answered, or the call that it belongs to has ended."},
	ProblemServerAnswer:       {code: CodeInvalid, message: "The answer does not fit the form.", kept: "The question still waits.", next: "Check the values and send them again."},
	ProblemCommandUnknown:     {code: CodeNotFound, message: "There is no command /{0} now.", next: "Type a slash to see the commands."},
	ProblemSlashUnknown: {
		code: CodeInvalid, message: "There is no command /{0}.", kept: "Nothing was sent.",
		next: "To send it as text, put a space before the slash.",
	},
	ProblemSlashMistyped: {
		code: CodeInvalid, message: "There is no command /{0}. The nearest is /{1}.", kept: "Nothing was sent.",
		next: "Correct the name. To send it as text, put a space before the slash.",
	},
	ProblemCommandArgument: {code: CodeInvalid, message: "The command /{0} needs a value for {1}.", next: "Add it, and send again."},
	ProblemCommandFailed:   {code: CodeNotFound, message: "The server did not give the text of the command /{0}.", kept: "Nothing was sent.", next: "Look at the server in the panel, and try again."},
	ProblemMessageDelivered: {
		code: CodeNotFound, message: "This message is no longer waiting.",
		kept: "It was delivered, or removed in another window.", next: "Send another one.",
	},
	ProblemQueueVerb:  {code: CodeInvalid, message: `A message cannot be queued as "{0}".`, kept: keptAll},
	ProblemQueueEmpty: {code: CodeNotFound, message: "No message waits to be sent."},
	ProblemTaskUnknown: {
		code: CodeNotFound, message: "This command is no longer known. It ended with its session, or long ago.",
		kept: "What the agent read of its output is in the conversation.",
	},
	ProblemTaskPort:      {code: CodeNotFound, message: "This command does not listen on port {0} any more.", kept: keptAll, next: "Look at what it prints."},
	ProblemModelUnchosen: {code: CodeNoModel, message: "No model is chosen.", next: "Choose one in the toolbar."},
	ProblemLimitNegative: {code: CodeInvalid, message: "A limit cannot be negative.", kept: keptSettings, next: "Leave it empty for no limit."},
	ProblemModeUnknown:   {code: CodeInvalid, message: `"{0}" is not a permission mode.`},
	ProblemCommandTimeout: {
		code: CodeInvalid, message: "A command's time limit must be between 1 and {0} seconds.",
		kept: keptSettings, next: "Leave it empty for each model's own.",
	},
	ProblemPatience: {
		code: CodeInvalid, message: "A model's server may be silent for 1 to {0} minutes.",
		kept: keptSettings, next: "Choose Automatic for the default.",
	},
	ProblemAgentCaps:      {code: CodeInvalid, message: "Agents may be 1 to {0} levels deep, and take up to {1} rounds.", kept: keptSettings},
	ProblemCompactUnknown: {code: CodeInvalid, message: `"{0}" is not a setting for compaction.`, kept: keptSettings},
	ProblemToolUnknown:    {code: CodeInvalid, message: "There is no tool {0} to switch off.", kept: keptSettings},
	ProblemFontSize:       {code: CodeInvalid, message: "A font's size must be between {0} and {1} pixels.", kept: keptSettings},
	ProblemFontName: {
		code: CodeInvalid, message: "The font's name is not valid.",
		kept: keptSettings, next: "Use the name of an installed font. It has letters, digits, spaces and - _ . + &.",
	},
	ProblemBypassByDefault: {
		code: CodeInvalid, message: "New sessions cannot begin with everything allowed.",
		kept: keptSettings, next: "Choose it in the session that needs it; it holds there until Atelier ends.",
	},
	ProblemSettingDamaged: {
		code: CodeStoreCorrupt, message: `The stored setting "{0}" is damaged.`,
		kept: "It was left as it is.", next: "Set it again in Settings.",
	},
	ProblemHomeUnusable: {
		code: CodeStoreUnusable, message: "Atelier cannot keep its data in {0}.",
		next: "Make that folder writable, or choose another one with ATELIER_HOME.",
	},
	ProblemStoreUnopened: {
		code: CodeStoreUnusable, message: "The database {0} could not be opened.",
		kept: "It was not changed.", next: "Check that you may read and write it and that the disk is not full.",
	},
	ProblemStoreLocked: {
		code: CodeStoreLocked, message: "Another program is using the database {0}.",
		kept: keptAll, next: "Close that program and try again.",
	},
	ProblemStoreDamaged: {
		code: CodeStoreCorrupt, message: "The database {0} is damaged.",
		kept: "It was left exactly as it is.", next: nextRepair,
	},
	ProblemStoreNewer: {
		code: CodeStoreNewer, message: "A newer Atelier wrote the database {0}.",
		kept: "It was not changed.", next: "Start the newer Atelier, or choose another folder with ATELIER_HOME.",
	},
	ProblemStoreFailed: {
		code: CodeStoreFailed, message: "Atelier could not read or write the database in {0}.",
		kept: "Everything saved before is still there.", next: "Check that the disk is not full and that you may write there, then try again.",
	},
	ProblemStoreFull: {
		code: CodeStoreFailed, message: "The disk that holds {0} is full, so Atelier could not save.",
		kept: "Everything saved before is still there.", next: "Make room and try again.",
	},
	ProblemEventUnread: {
		code: CodeStoreFailed, message: "Atelier could not read a part of the session.",
		kept: "Everything saved is still there.", next: "Check that you may read the file, and try again.",
	},
	ProblemProviderUnknown: {code: CodeNoModel, message: `The provider "{0}" does not exist.`, next: "Choose a model in the toolbar."},
	ProblemAddressMissing:  {code: CodeNoModel, message: "{0} has no address yet.", kept: keptMessage, next: "Enter it in Settings → Keys, or set {1}."},
	ProblemAddressDamaged: {
		code: CodeNoModel, message: "The stored address of {0} is damaged on the disk, so its key is sent nowhere.",
		kept: keptMessage, next: "Enter the key and the address again in Settings → Keys.",
	},
	ProblemKeyMissing:      {code: CodeNoModel, message: "{0} has no key yet.", kept: keptMessage, next: "Enter it in Settings → Keys."},
	ProblemKeyMissingOrSet: {code: CodeNoModel, message: "{0} has no key yet.", kept: keptMessage, next: "Enter it in Settings → Keys, or set {1}."},
	ProblemModelUnlisted: {
		code: CodeNotFound, message: "{0} does not list the model {1}.",
		next: "It may still answer; if it does not, choose another model.",
	},
	ProblemModelsFile: {
		code: CodeInvalid, message: "Your models in {0} are not used: {1}.",
		kept: "The models that Atelier comes with are still there.", next: "Correct the file and restart Atelier.",
	},
	ProblemKeyUnread: {
		code: CodeKeyUnavailable, message: "The key of {0} could not be read.",
		kept: "It was not changed.", next: "Unlock the keyring and try again.",
	},
	ProblemKeyUnreadOrSet: {
		code: CodeKeyUnavailable, message: "The key of {0} could not be read.",
		kept: "It was not changed.", next: "Unlock the keyring, or set {1}.",
	},
	ProblemKeyGarbled: {
		code: CodeKeyUnavailable, message: "The stored key of {0} is not readable.",
		kept: "It was not changed.", next: "Remove the endpoint and add it again.",
	},
	ProblemKeyUnsaved: {
		code: CodeKeyUnavailable, message: "The key of {0} could not be saved.",
		kept: "The old key and the old address are still there.", next: "Unlock the keyring and try again.",
	},
	ProblemKeyUnsavedOrSet: {
		code: CodeKeyUnavailable, message: "The key of {0} could not be saved.",
		kept: "The old key and the old address are still there.", next: "Unlock the keyring, or set {1}.",
	},
	ProblemKeyUnremoved: {
		code: CodeKeyUnavailable, message: "The key of {0} could not be removed.",
		kept: "It is still there.", next: "Unlock the keyring and try again.",
	},
	ProblemKeyOfOther: {
		code: CodeKeyNeeded, message: "The key of {0} was entered for another address and is not sent to this one.",
		kept: keptAll, next: "Enter the key for {1}, or remove the old key first.",
	},
	ProblemKeyNotOwn: {
		code: CodeKeyNeeded, message: "The key of {0} was entered for another address and is not sent to the provider's own.",
		kept: keptAll, next: "Enter the key for the provider's own address, or remove the old key first.",
	},
	ProblemKeyOfEnvironment: {
		code: CodeKeyNeeded, message: "The key in {0} is not sent to an address that is set here.",
		kept: keptAll, next: "Enter the key for this address, or set {1} beside {0}.",
	},
	ProblemAddressInvalid: {
		code: CodeInvalid, message: "The address is not an http or https address.",
		kept: keptAll, next: "Enter it like https://host/v1.",
	},
	ProblemAddressPassword: {
		code: CodeInvalid, message: "The address contains a user name or a password.",
		kept: keptAll, next: "Enter the address without it, and the secret as the key.",
	},
	ProblemAddressQuery: {
		code: CodeInvalid, message: "The address contains more than a host and a path, and the rest may be a secret.",
		kept: keptAll, next: "Enter the address up to the question mark or the number sign, and the secret as the key.",
	},
	ProblemEndpointNotHere: {
		code: CodeInvalid, message: "{0} is one of your own endpoints.",
		kept: keptAll, next: "Change it under Settings → Keys → Your endpoints.",
	},
	ProblemEndpointMissing: {code: CodeNotFound, message: "This endpoint no longer exists.", kept: keptAll, next: "Add it again."},
	ProblemEndpointsFull: {
		code: CodeInvalid, message: "There are already {0} endpoints, and there cannot be more.",
		kept: keptAll, next: "Remove one first.",
	},
	ProblemEndpointUnnamed: {
		code: CodeInvalid, message: "The endpoint needs a name that can be shown.",
		kept: keptAll, next: "Enter a name of at most {0} letters.",
	},
	ProblemEndpointUnaddressed: {code: CodeInvalid, message: "The endpoint needs an address.", kept: keptAll, next: "Enter it like https://host/v1."},
	ProblemHeadersFull:         {code: CodeInvalid, message: "An endpoint cannot have more than {0} headers.", kept: keptAll, next: "Remove some."},
	ProblemHeaderReserved:      {code: CodeInvalid, message: `"{0}" cannot be a header of yours.`, kept: keptAll, next: "Choose another name."},
	ProblemHeaderTwice:         {code: CodeInvalid, message: "The header {0} appears twice.", kept: keptAll, next: "Remove one of them."},
	ProblemHeaderValue: {
		code: CodeInvalid, message: "The value of the header {0} is too long or contains a line break.",
		kept: keptAll, next: "Enter it again.",
	},
	ProblemHeaderEmpty: {
		code: CodeInvalid, message: "The header {0} needs a value.",
		kept: keptAll, next: "Enter it: stored values are neither shown nor sent to another address.",
	},
	ProblemBodyInvalid: {
		code: CodeInvalid, message: "The fields for every request are not a JSON object.",
		kept: keptAll, next: `Enter them like {"top_k": 40}.`,
	},
	ProblemBodyReserved:         {code: CodeInvalid, message: `Atelier itself sets the field "{0}" of the request.`, kept: keptAll, next: "Remove it."},
	ProblemChangesNoGit:         {code: CodeInvalid, message: "git is not installed, or not on the PATH.", next: "Install git; until then only the changes of sessions are shown."},
	ProblemChangesNoRepository:  {code: CodeInvalid, message: "This folder is not in a git repository.", next: "Run git init to begin one; until then only the changes of sessions are shown."},
	ProblemChangesRefused:       {code: CodeInvalid, message: "git refused.", kept: keptAll, next: "See what git said in the details."},
	ProblemChangesOutside:       {code: CodeInvalid, message: "{0} is outside this folder, or belongs to git itself.", kept: keptAll},
	ProblemChangesVanished:      {code: CodeNotFound, message: "{0} is no longer there.", kept: keptAll, next: "Refresh the list."},
	ProblemChangesUnreadable:    {code: CodeInvalid, message: "{0} cannot be read.", kept: keptAll, next: "Read the reason in the details."},
	ProblemChangesNoText:        {code: CodeInvalid, message: "{0} is a binary file, so its contents are not shown.", kept: keptAll, next: "Open it in a program for such files."},
	ProblemChangesTooLarge:      {code: CodeInvalid, message: "{0} is too large for this.", kept: keptAll, next: "Open it in your editor, or use git in a terminal."},
	ProblemChangesChanged:       {code: CodeInvalid, message: "{0} has changed since it was shown.", kept: keptAll, next: "Look at the change again, then decide."},
	ProblemChangesAmbiguous:     {code: CodeInvalid, message: "{0} has these lines in several places, so it is not clear which are meant.", kept: keptAll, next: "Edit the file by hand."},
	ProblemChangesOccupied:      {code: CodeInvalid, message: "{0} exists again, so the deleted file was not restored over it.", kept: keptAll, next: "Move it away first."},
	ProblemChangesNotText:       {code: CodeInvalid, message: "{0} has lines that are not UTF-8 text, so this part cannot be reverted exactly.", kept: keptAll, next: "Revert the whole file, or use git in a terminal."},
	ProblemChangesNotPossible:   {code: CodeInvalid, message: "The change of {0} cannot be reverted here.", kept: keptAll, next: "Use git in a terminal."},
	ProblemChangesNotWritten:    {code: CodeInvalid, message: "{0} could not be written.", kept: keptAll, next: "Read the reason in the details."},
	ProblemChangesReadOnly:      {code: CodeInvalid, message: "Nothing can be changed here, because Atelier was started read-only.", kept: keptAll},
	ProblemChangesHunkInvalid:   {code: CodeInvalid, message: "This is not a part of a diff of {0}.", kept: keptAll},
	ProblemChangesBaseUnknown:   {code: CodeNotFound, message: "There is no branch {0}.", kept: keptAll, next: "Choose another base."},
	ProblemChangesBaseUnrelated: {code: CodeInvalid, message: "This branch and {0} have no commit in common.", kept: keptAll, next: "Choose another base."},
	ProblemChangesFiltered:      {code: CodeInvalid, message: "{0} passes through a filter of this repository, which is a program. Atelier does not run it.", kept: keptAll, next: "Use git in a terminal."},
	ProblemChangesInProgress:    {code: CodeBusy, message: "The repository is in the middle of a {0}.", kept: keptAll, next: "Finish or abort it in a terminal first."},
	ProblemChangesNothingStaged: {code: CodeInvalid, message: "There is nothing to commit: no file is staged.", kept: keptAll, next: "Change or stage some files first."},
	ProblemChangesStagedOutside: {code: CodeInvalid, message: "Files outside this folder are staged too.", kept: keptAll, next: "Choose the files to commit, or commit in a terminal."},
	ProblemChangesConflicts:     {code: CodeInvalid, message: "{0} has conflicts that are not resolved.", kept: keptAll, next: "Resolve them and stage the file first."},
	ProblemChangesNoIdentity:    {code: CodeInvalid, message: "git does not know your name and address for commits.", kept: keptAll, next: "Set user.name and user.email with git config."},
	ProblemChangesNoMessage:     {code: CodeInvalid, message: "The commit needs a message of at most {0} characters.", kept: keptAll, next: "Enter one."},
	ProblemChangesBranchInvalid: {code: CodeInvalid, message: `"{0}" cannot be the name of a branch.`, kept: keptAll, next: "Choose another name."},
	ProblemChangesBranchExists:  {code: CodeInvalid, message: "The branch {0} exists already.", kept: keptAll, next: "Choose another name."},
	ProblemChangesLocked:        {code: CodeBusy, message: "The repository is locked: another git is working on it, or was interrupted.", kept: keptAll, next: "Try again when it is done. If no git is running, delete the lock file that the details name."},
	ProblemChangesSlow:          {code: CodeBusy, message: "Reading the changes took longer than {0} seconds and was stopped.", kept: keptAll, next: "Try again, or use git in a terminal."},
	ProblemChangesScope:         {code: CodeInvalid, message: `"{0}" is not a choice of changes, or needs a session.`},
	ProblemChangesUnproposed:    {code: CodeNoModel, message: "No message could be proposed.", kept: keptAll, next: "Write one yourself, or choose a model with a small sibling."},
	ProblemFileMissing:          {code: CodeNotFound, message: "There is no file {0} in this folder.", kept: keptAll},
	ProblemEditorMissing:        {code: CodeNotFound, message: "No editor with a window was found.", next: "Name one in Settings, such as code -g {0}."},
	ProblemEditorInvalid:        {code: CodeInvalid, message: "The editor's command is not valid.", kept: keptAll, next: "Name a program and {0} in it."},
	ProblemEditorAbsent:         {code: CodeNotFound, message: "The editor {0} was not found.", kept: keptAll, next: "Name an installed program in Settings, or give its whole path."},
	ProblemEditorNothing:        {code: CodeNotFound, message: "The project has no file to open.", kept: keptAll},
	ProblemEditorFailed:         {code: CodeInvalid, message: "{0} could not be started.", kept: keptAll, next: "Check the editor's command in Settings."},
	ProblemEditorEnded:          {code: CodeInvalid, message: "{0} ended at once with an error.", kept: keptAll, next: "Check the editor's command in Settings, or run it in a terminal to see what it says."},
}

// Problem returns the error with an id, with its arguments filled in.
func Problem(id ProblemID, args ...string) *Error {
	p, ok := problems[id]
	for _, more := range []map[ProblemID]problem{ruleProblems, hookProblems, trustProblems, serverProblems, storeProblems, forkProblems, searchProblems, sessionProblems, skillProblems, transcriptProblems, undoProblems, skillUseProblems, terminalProblems, externalProblems} {
		if !ok {
			p, ok = more[id]
		}
	}
	return &Error{
		ID: id, Args: args, Code: p.code,
		Message: agent.Fill(p.message, args), Kept: agent.Fill(p.kept, args), Next: agent.Fill(p.next, args),
	}
}

// Because returns the error with its cause, which is also its details.
func (e *Error) Because(cause error) *Error {
	with := *e
	with.Cause, with.Details = cause, cause.Error()
	return &with
}

// Detailed returns the error with details.
func (e *Error) Detailed(details string) *Error {
	with := *e
	with.Details = details
	return &with
}
