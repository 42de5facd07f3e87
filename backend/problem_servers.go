package backend

// Problems of MCP servers. The first argument names the server or the file.
const (
	ProblemServerMissing     ProblemID = "server_missing"
	ProblemServerDraft       ProblemID = "server_draft"
	ProblemServerScope       ProblemID = "server_scope"
	ProblemServerTaken       ProblemID = "server_taken"
	ProblemServerEdited      ProblemID = "server_edited"
	ProblemServerUnwritten   ProblemID = "server_unwritten"
	ProblemServerSecret      ProblemID = "server_secret"
	ProblemServerBroken      ProblemID = "server_broken"
	ProblemServerUntrusted   ProblemID = "server_untrusted"
	ProblemServerChanged     ProblemID = "server_changed"
	ProblemServerRefused     ProblemID = "server_refused"
	ProblemServerShadowed    ProblemID = "server_shadowed"
	ProblemServerOff         ProblemID = "server_off"
	ProblemServerTool        ProblemID = "server_tool"
	ProblemServerToolChanged ProblemID = "server_tool_changed"
	ProblemServerToolSealed  ProblemID = "server_tool_sealed"
	// Problems of connections.
	ProblemServerFailed       ProblemID = "server_failed"
	ProblemServerNeedsAuth    ProblemID = "server_needs_auth"
	ProblemServerConfig       ProblemID = "server_config"
	ProblemServerNoFile       ProblemID = "server_no_file"
	ProblemServerStart        ProblemID = "server_start"
	ProblemServerExited       ProblemID = "server_exited"
	ProblemServerSlow         ProblemID = "server_slow"
	ProblemServerSilent       ProblemID = "server_silent"
	ProblemServerBlocked      ProblemID = "server_blocked"
	ProblemServerGarbage      ProblemID = "server_garbage"
	ProblemServerTooLarge     ProblemID = "server_too_large"
	ProblemServerVersion      ProblemID = "server_version"
	ProblemServerUnreached    ProblemID = "server_unreached"
	ProblemServerHTTP         ProblemID = "server_http"
	ProblemServerRedirect     ProblemID = "server_redirect"
	ProblemServerGaveUp       ProblemID = "server_gave_up"
	ProblemServerProtocol     ProblemID = "server_protocol"
	ProblemServerError        ProblemID = "server_error"
	ProblemServerTimeout      ProblemID = "server_timeout"
	ProblemServerClosed       ProblemID = "server_closed"
	ProblemServerToolUnusable ProblemID = "server_tool_unusable"
	ProblemServerAuthorise    ProblemID = "server_authorise"

	ProblemServerAuthEnded      ProblemID = "server_auth_ended"
	ProblemServerAuthRefused    ProblemID = "server_auth_refused"
	ProblemServerAuthScopes     ProblemID = "server_auth_scopes"
	ProblemServerAuthDenied     ProblemID = "server_auth_denied"
	ProblemServerAuthExpired    ProblemID = "server_auth_expired"
	ProblemServerAuthPort       ProblemID = "server_auth_port"
	ProblemServerAuthClient     ProblemID = "server_auth_client"
	ProblemServerAuthUnattended ProblemID = "server_auth_unattended"

	ProblemServerToolOff ProblemID = "server_tool_off"

	// Problems of files.
	ProblemServerImport       ProblemID = "server_import"
	ProblemServerImportOther  ProblemID = "server_import_other"
	ProblemServerImportUnread ProblemID = "server_import_unread"
	ProblemServersFile        ProblemID = "servers_file"
	ProblemServersFileUnread  ProblemID = "servers_file_unread"
	ProblemServersFileEmpty   ProblemID = "servers_file_empty"
	ProblemServersMany        ProblemID = "servers_many"
)

const (
	keptServers = "The servers were not changed."
	keptFile    = "The file was not changed."
)

var serverProblems = map[ProblemID]problem{
	ProblemServerMissing: {code: CodeNotFound, message: "There is no server {0}.", kept: keptServers, next: "Look at the list of servers again."},
	ProblemServerDraft:   {code: CodeInvalid, message: "The server cannot be connected as it is written. {0}", kept: keptServers},
	ProblemServerScope:   {code: CodeInvalid, message: "Servers cannot be kept there.", kept: keptServers},
	ProblemServerTaken: {
		code: CodeInvalid, message: "{0} has a server {1} already.", kept: keptServers, next: "Choose another name, or change that server.",
	},
	ProblemServerEdited: {
		code: CodeBusy, message: "{1} has changed in {0} since it was shown.", kept: keptServers, next: "Look at it again.",
	},
	ProblemServerUnwritten: {
		code: CodeFolder, message: "The server could not be written to {0}.",
		kept: keptServers, next: "Check that it is a file of JSON that you may write.",
	},
	ProblemServerSecret: {
		code: CodeKeyUnavailable, message: "The secret for {0} could not be kept.", kept: keptServers, next: "Unlock the keyring and try again.",
	},
	ProblemServerBroken:    {code: CodeInvalid, message: "{0} cannot be connected as it is written.", next: "Read what is odd about it, and correct it."},
	ProblemServerUntrusted: {code: CodeInvalid, message: "{0} is not connected before you trust it.", next: "Look at what it is and decide about it."},
	ProblemServerChanged:   {code: CodeInvalid, message: "{0} has changed since you trusted it.", next: "Look at what changed and decide about it."},
	ProblemServerRefused:   {code: CodeInvalid, message: "You refused to trust {0}."},
	ProblemServerShadowed:  {code: CodeInvalid, message: "{0} is also defined in {1}, which wins.", next: "Remove or rename one of them."},
	ProblemServerOff:       {code: CodeInvalid, message: "{0} is switched off.", next: "Switch it on."},
	ProblemServerTool:      {code: CodeNotFound, message: "{0} has no tool {1}.", kept: keptAll, next: "Look at its tools again."},
	ProblemServerToolChanged: {
		code: CodeInvalid, message: "{0} changed its tool {1} since you accepted it.", next: "Look at what changed and decide about it.",
	},
	ProblemServerToolSealed: {
		code: CodeBusy, message: "The tool {1} of {0} has changed again since it was shown.", kept: "Nothing was accepted.", next: "Look at it again, then decide.",
	},
	ProblemServerFailed:       {code: CodeInvalid, message: "{0} is not connected.", next: "Read the reason in the details and try again."},
	ProblemServerNeedsAuth:    {code: CodeInvalid, message: "{0} wants you to authorise Atelier.", next: "Authorise it."},
	ProblemServerConfig:       {code: CodeInvalid, message: "{0} cannot be connected as it is configured: {1}.", next: "Correct it."},
	ProblemServerNoFile:       {code: CodeInvalid, message: "{0} is not connected, because there is no program {1}.", next: "Install it, or correct the command. It is one program; each of its arguments stands in args."},
	ProblemServerStart:        {code: CodeInvalid, message: "The program of {0} could not be started: {1}."},
	ProblemServerExited:       {code: CodeInvalid, message: "The program of {0} ended with exit code {1}.", next: "Read what it printed, then start it again."},
	ProblemServerSlow:         {code: CodeInvalid, message: "{0} was not ready within {1}."},
	ProblemServerSilent:       {code: CodeInvalid, message: "{0} does not answer."},
	ProblemServerBlocked:      {code: CodeInvalid, message: "The program of {0} does not read its input."},
	ProblemServerGarbage:      {code: CodeInvalid, message: "{0} sent something that is not a message of the protocol: {1}"},
	ProblemServerTooLarge:     {code: CodeInvalid, message: "{0} sent more than {1}."},
	ProblemServerVersion:      {code: CodeInvalid, message: "{0} speaks a version of the protocol that Atelier does not know: {1}."},
	ProblemServerUnreached:    {code: CodeInvalid, message: "{0} cannot be reached: {1}.", next: "Check the address and the network."},
	ProblemServerHTTP:         {code: CodeInvalid, message: "{0} answered with the status {1}."},
	ProblemServerRedirect:     {code: CodeInvalid, message: "{0} redirects to {1}, where Atelier does not follow."},
	ProblemServerGaveUp:       {code: CodeInvalid, message: "The program of {0} ended too often, so it is no longer restarted automatically. It last ended with {1}.", next: "Read what it printed, then start it again."},
	ProblemServerProtocol:     {code: CodeInvalid, message: "{0} broke the protocol: {1}."},
	ProblemServerError:        {code: CodeInvalid, message: "{0} answered with an error: {1}"},
	ProblemServerTimeout:      {code: CodeInvalid, message: "{0} did not answer within {1}."},
	ProblemServerClosed:       {code: CodeInvalid, message: "{0} was disconnected."},
	ProblemServerToolUnusable: {code: CodeInvalid, message: "Models cannot be offered the tool {0}.", next: "Read the reason in the details."},
	ProblemServerAuthorise:    {code: CodeInvalid, message: "{0} cannot be authorised.", kept: keptAll, next: "Read the reason in the details."},
	ProblemServerAuthEnded:    {code: CodeInvalid, message: "What you authorised for {0} has ended or was revoked.", next: "Authorise it again."},
	ProblemServerAuthRefused:  {code: CodeInvalid, message: "{0} refuses the token that was issued for it.", next: "Authorise it again."},
	ProblemServerAuthScopes:   {code: CodeInvalid, message: "{0} asks for more rights than you authorised: {1}.", next: "Authorise it again if it may have them."},
	ProblemServerAuthDenied: {
		code: CodeInvalid, message: "{0} was not authorised, because you or its authorisation server refused.", next: "Authorise it again if you want to use it.",
	},
	ProblemServerAuthExpired: {
		code: CodeInvalid, message: "{0} was not authorised, because nobody came back from the browser within ten minutes.", next: "Authorise it again.",
	},
	ProblemServerAuthPort: {
		code: CodeInvalid, message: "{0} cannot be authorised, because another program uses the port {1}, to which the browser would come back.",
		kept: keptAll, next: "End that program, or change the port in the definition of the server.",
	},
	ProblemServerAuthClient: {
		code: CodeInvalid, message: "{0} cannot be authorised, because its authorisation server knows only clients that were registered by hand.",
		kept: keptAll, next: "Register Atelier there, and add the client's id to the definition of the server.",
	},
	ProblemServerAuthUnattended: {
		code: CodeInvalid, message: "{0} is authorised without a person, as its definition says.", kept: keptAll, next: "Correct what the definition says about it.",
	},
	ProblemServerToolOff: {code: CodeInvalid, message: "The tool {1} of {0} is switched off.", next: "Switch it on."},
	ProblemServerImport: {
		code: CodeBusy, message: "{0} has changed since it was shown.", kept: keptServers, next: "Look at its servers again, then import them.",
	},
	ProblemServerImportOther: {code: CodeInvalid, message: "Atelier does not import servers from {0}.", kept: keptServers},
	ProblemServerImportUnread: {
		code: CodeInvalid, message: "{0} cannot be read.", kept: keptFile, next: "Read the reason in the details.",
	},
	ProblemServersFile: {
		code: CodeInvalid, message: "{0} cannot be read from line {1} on, so its servers are not connected.", kept: keptFile, next: "Correct it.",
	},
	ProblemServersFileUnread: {
		code: CodeInvalid, message: "{0} cannot be read, so its servers are not connected.", kept: keptFile, next: "Make it a file that you may read.",
	},
	ProblemServersFileEmpty: {
		code: CodeInvalid, message: "{0} defines no servers.", kept: keptFile,
		next: "Name a file that has them as members of mcpServers.",
	},
	ProblemServersMany: {code: CodeInvalid, message: "{0} has more than {1} servers. The others are left out.", kept: keptFile},
}
