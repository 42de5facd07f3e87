package agent

import "strings"

// WarningID names one warning, for those who word it in another language. An id
// is stored with the events that carry it, and so is never given another meaning.
type WarningID string

// The warnings, each with the arguments of its sentence.
const (
	WarnContextFull      WarningID = "context_full"          // percent, model
	WarnContextCompacts  WarningID = "context_compacts"      // percent, model
	WarnContextOverflow  WarningID = "context_overflow"      // model
	WarnWindowSmall      WarningID = "window_small"          // tokens of the instructions and tools, of the window, model
	WarnWindowSet        WarningID = "window_set"            // the same, and the setting of the server
	WarnPromptCut        WarningID = "prompt_cut"            // model, tokens that its server counted, tokens that were sent, the setting of the server
	WarnCompactionEnds   WarningID = "compaction_ends"       // number of failures
	WarnCompactionVetoed WarningID = "compaction_vetoed"     // what the hook said
	WarnHooksOverruled   WarningID = "hooks_overruled"       // number of times
	WarnHookStopped      WarningID = "hook_stopped"          // what the hook said
	WarnPromptRefused    WarningID = "prompt_refused"        // what the hook said
	WarnPromptUndecided  WarningID = "prompt_undecided"      //
	WarnLength           WarningID = "answer_length"         //
	WarnPaused           WarningID = "answer_paused"         // number of times
	WarnFiltered         WarningID = "answer_filtered"       // what the provider said
	WarnRefused          WarningID = "answer_refused"        // what the provider said
	WarnEnded            WarningID = "answer_ended"          // the provider's word for why
	WarnCallWritten      WarningID = "call_written"          // tools
	WarnCallInText       WarningID = "call_in_text"          //
	WarnFallback         WarningID = "fallback"              // model, why it failed, the other model
	WarnBudget           WarningID = "budget"                // spent, budget
	WarnCostUnknown      WarningID = "cost_unknown"          // model, budget
	WarnCalls            WarningID = "calls"                 // number of calls, number of those that are run
	WarnDamagedEvent     WarningID = "damaged_event"         // its place
	WarnDamagedEvents    WarningID = "damaged_events"        // number, the places of the first and the last
	WarnNewerEvent       WarningID = "newer_event"           // its place
	WarnCompany          WarningID = "company"               // folder
	WarnSameFile         WarningID = "same_file"             // files, with who writes them
	WarnModeReset        WarningID = "permission_mode_reset" //
)

const damaged = "damaged or missing on the disk and cannot be shown. Everything else of the session is here, and nothing was changed. " +
	"To get back what is missing, restore a backup of the session's data."

// warnings are the codes and the English sentences.
var warnings = map[WarningID]struct{ code, message string }{
	WarnContextFull:      {"context", "The conversation fills {0} % of what {1} can read. A new session, or a smaller question, leaves more room."},
	WarnContextCompacts:  {"context", "The conversation fills {0} % of what {1} can read. Atelier tries to compact it before it is too long."},
	WarnContextOverflow:  {"context", "The conversation is longer than {0} can read. It is shortened and sent again."},
	WarnWindowSmall:      {"context", "Instructions and tools alone take about {0} of the {1} tokens that {2} can read. Choose a model with a larger context window."},
	WarnWindowSet:        {"context", "Instructions and tools alone take about {0} of the {1} tokens that the server of {2} gives it. Give it more, then load the model again: {3}."},
	WarnPromptCut:        {"context", "The server of {0} counted {1} tokens of a request of about {2}. It seems to cut off the beginning without a word, so that the model does not know all of the conversation. Give it a larger context: {3}."},
	WarnCompactionEnds:   {"context", "Compaction failed {0} times in a row. It is not tried again until you ask for it."},
	WarnCompactionVetoed: {"hooks", "A hook prevented the compaction of the conversation. {0}"},
	WarnHooksOverruled:   {"hooks", "Hooks continued this turn {0} times. It ends here nevertheless."},
	WarnHookStopped:      {"hooks", "A hook ended this turn. {0}"},
	WarnPromptRefused:    {"hooks", "A hook refused this message, so it was not sent to the model. {0}"},
	WarnPromptUndecided:  {"hooks", "The turn ended before it was certain that your hooks allow this message. The model is not told of it. Send it again if you still want to."},
	WarnLength:           {"length", "The answer stopped because it reached the model's length limit. Ask it to go on to get the rest."},
	WarnPaused:           {"pause", "The provider paused its answer {0} times without completing it. Ask it to go on to get the rest."},
	WarnFiltered:         {"content_filter", "The provider's content filter ended the answer. {0}"},
	WarnRefused:          {"refusal", "The model refused to go on. {0}"},
	WarnEnded:            {"ended", "The provider ended the answer for a reason that Atelier does not know: {0}. It may be incomplete."},
	WarnCallWritten:      {"call", "The model wrote its call of {0} as text. It is run as a call."},
	WarnCallInText:       {"call", "The model wrote a call as text, which runs nothing. It is asked once to call the tool itself."},
	WarnFallback:         {"fallback", "{0} did not answer: {1}. {2} takes its place for this request."},
	WarnBudget:           {"budget", "{0} of this session's budget of {1} is spent."},
	WarnCostUnknown:      {"cost_unknown", "The cost of {0} is not known, so the budget of {1} does not stop it."},
	WarnCalls:            {"calls", "The model made {0} tool calls in one answer. The first {1} are run; the others were left out."},
	WarnDamagedEvent:     {WarningDamaged, "Event {0} of this session is " + damaged},
	WarnDamagedEvents:    {WarningDamaged, "{0} events of this session ({1} to {2}) are " + damaged},
	WarnNewerEvent:       {"newer", "Event {0} of this session was written by a newer Atelier, which can show it."},
	WarnCompany:          {"company", "Another session works in {0} at the same time. Each may overwrite what the other's commands changed; a fork into a worktree of its own avoids that."},
	WarnSameFile:         {"same_file", "Others are changing the same files: {0}. The model was told to read them again before it writes."},
	WarnModeReset:        {"mode_reset", "Everything was allowed in this session until the program ended. It asks first again."},
}

// Warn returns the warning with an id. As many arguments as its sentence takes
// fill it.
func Warn(id WarningID, args ...string) Warning {
	w := warnings[id]
	return Warning{ID: id, Args: args, Code: w.code, Message: strings.TrimSpace(Fill(w.message, args))}
}

// repairs are the English sentences of repairs, each with its arguments.
var repairs = map[Repair]string{
	RepairNative:      "The provider refused the conversation: {0}. It is sent without the provider's own notes on earlier answers; what was said is unchanged.",                         // what the provider said
	RepairCalls:       "The provider refused the conversation: {0}. It is sent with malformed tool calls as text; everything else is unchanged.",                                         // what the provider said
	RepairElided:      "The conversation is longer than {0} can read. The oldest tool outputs are sent shortened from here on; the session keeps them whole.",                            // model
	RepairPictures:    "Pictures are sent to {0} in another form: {1}.",                                                                                                                  // model, what was done
	RepairCut:         "The conversation is longer than {0} can read. Its longest texts, your own among them, are sent without their middle from here on; the session keeps them whole.", // model
	RepairAttachments: "The provider refused the conversation: {0}. From here on {1} of its pictures or attachments are sent as a line of text; the session keeps them.",                 // what the provider said, number
	RepairItems:       "The provider refused the conversation: {0}. From here on it is sent without the messages or results that seem to be the reason; the session keeps them.",         // what the provider said
	RepairForeign:     "{0} goes on where {1} was. It is sent all that was said and done, but not what the other model thought.",                                                         // model, the one before
}

// Repaired returns the repair of a kind. As many arguments as its sentence takes
// fill it.
func Repaired(kind Repair, args ...string) HistoryRepaired {
	return HistoryRepaired{Repair: kind, Args: args, Message: Fill(repairs[kind], args)}
}
