package backend

// Problems of exports and imports. The first argument is the path of the file.
const (
	ProblemExportFormat  ProblemID = "export_format"
	ProblemExportUnsaved ProblemID = "export_unsaved"
	ProblemExportGone    ProblemID = "export_gone"
	ProblemImportUnread  ProblemID = "import_unread"
	ProblemImportUnknown ProblemID = "import_unknown"
	ProblemImportEmpty   ProblemID = "import_empty"
	ProblemImportLarge   ProblemID = "import_large"
	ProblemImportStopped ProblemID = "import_stopped"
	ProblemImportNewer   ProblemID = "import_newer"
	ProblemImportMissing ProblemID = "import_missing"

	// Problems of shares.
	ProblemShareFull         ProblemID = "share_full"
	ProblemSharePattern      ProblemID = "share_pattern"
	ProblemShareNetwork      ProblemID = "share_network"
	ProblemShareTunnel       ProblemID = "share_tunnel"
	ProblemShareTunnelFailed ProblemID = "share_tunnel_failed"
)

const keptShare = "Nothing is shared."

const keptImports = "Nothing was imported."

var transcriptProblems = map[ProblemID]problem{
	ProblemExportFormat:  {code: CodeInvalid, message: "Sessions cannot be exported as “{0}”.", kept: keptAll, next: "Choose md, html, json, open-agent or comate."},
	ProblemExportUnsaved: {code: CodeFolder, message: "The session could not be written to {0}.", kept: "Nothing was written there.", next: "Choose another place."},
	ProblemExportGone:    {code: CodeNotFound, message: "This export is no longer kept.", kept: keptAll, next: "Export the session again."},
	ProblemImportUnread:  {code: CodeInvalid, message: "{0} cannot be read as a transcript.", kept: keptImports, next: "Check that it is whole."},
	ProblemImportUnknown: {
		code: CodeInvalid, message: "{0} is not a transcript that Atelier knows.", kept: keptImports,
		next: "Choose one of Claude Code, Codex, the Open Agent SDK or Comate, or a session that Atelier exported as JSON.",
	},
	ProblemImportEmpty:   {code: CodeInvalid, message: "{0} has no messages.", kept: keptImports, next: "Choose another transcript."},
	ProblemImportStopped: {code: CodeInvalid, message: "The import was stopped.", kept: keptImports},
	ProblemImportLarge:   {code: CodeInvalid, message: "{0} is too large.", kept: keptImports, next: "Choose one of less than 1 GB and 500,000 lines."},
	ProblemImportNewer:   {code: CodeInvalid, message: "{0} was written by a newer version of Atelier.", kept: keptImports, next: "Update Atelier."},
	ProblemImportMissing: {code: CodeNotFound, message: "There is no file {0}.", kept: keptImports, next: "Choose another transcript."},

	ProblemShareFull:    {code: CodeInvalid, message: "As many sessions are shared as may be.", kept: "The others are shared as before.", next: "End one of them."},
	ProblemSharePattern: {code: CodeInvalid, message: "One of the patterns is not a regular expression.", kept: keptShare, next: "Correct it."},
	ProblemShareNetwork: {code: CodeInvalid, message: "This machine is in no network.", kept: keptShare, next: "Connect it, or share on this machine."},
	ProblemShareTunnel: {
		code: CodeNotFound, message: "Neither cloudflared nor ngrok is on PATH.", kept: keptShare,
		next: "Install one of them, or share on this machine or its network.",
	},
	ProblemShareTunnelFailed: {code: CodeInternal, message: "{0} made no tunnel.", kept: keptShare, next: "See what it said, or share on this machine or its network."},
}
