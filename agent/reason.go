package agent

import (
	"strconv"
	"strings"
)

// ReasonCode is the code of a gate's reason, for hosts with their own wording:
// the page has a sentence for each code in each language.
type ReasonCode string

// The reasons of verdicts. Comments name the arguments of their sentences.
const (
	ReasonToolOff         ReasonCode = "tool_off"         // tool
	ReasonSkill           ReasonCode = "skill"            // name, the tools that it allows
	ReasonAgent           ReasonCode = "agent"            // name, the tools that it may call
	ReasonSkillApproved   ReasonCode = "skill_approved"   // name
	ReasonNeverAsks       ReasonCode = "never_asks"       //
	ReasonControls        ReasonCode = "controls"         // path
	ReasonSecret          ReasonCode = "secret"           // path
	ReasonOwnFolder       ReasonCode = "own_folder"       // path
	ReasonOutside         ReasonCode = "outside"          // path
	ReasonLeadsOutside    ReasonCode = "leads_outside"    // path, where it leads
	ReasonCommand         ReasonCode = "command"          //
	ReasonCommandUnsure   ReasonCode = "command_unsure"   // the part that cannot be told
	ReasonCommandPlace    ReasonCode = "command_place"    //
	ReasonCommandReads    ReasonCode = "command_reads"    //
	ReasonChanges         ReasonCode = "changes"          // path
	ReasonChangesTwo      ReasonCode = "changes_two"      // path
	ReasonChangesMore     ReasonCode = "changes_more"     // path, number of the others
	ReasonReads           ReasonCode = "reads"            //
	ReasonOwn             ReasonCode = "own"              //
	ReasonConfined        ReasonCode = "confined"         //
	ReasonUnconfined      ReasonCode = "unconfined"       //
	ReasonHosts           ReasonCode = "hosts"            // hosts
	ReasonWeb             ReasonCode = "web"              // host
	ReasonUnforeseen      ReasonCode = "unforeseen"       // tool
	ReasonRuleDenies      ReasonCode = "rule_denies"      // rule
	ReasonRuleAsks        ReasonCode = "rule_asks"        // rule
	ReasonRuleUnsure      ReasonCode = "rule_unsure"      // rule
	ReasonRuleAllows      ReasonCode = "rule_allows"      // rule
	ReasonRulesUnread     ReasonCode = "rules_unread"     // file
	ReasonListsDeny       ReasonCode = "lists_deny"       // what they have against it, in English
	ReasonListsAsk        ReasonCode = "lists_ask"        // what they have against it, in English
	ReasonCallbackDenied  ReasonCode = "callback_denied"  // what the program said
	ReasonCallbackAsks    ReasonCode = "callback_asks"    // what the program said
	ReasonCallbackAllowed ReasonCode = "callback_allowed" // what the program said
	ReasonHookRefused     ReasonCode = "hook_refused"     // what the hook said
	ReasonHookWantsAsked  ReasonCode = "hook_wants_asked" // what the hook said
	ReasonHookAllowed     ReasonCode = "hook_allowed"     // what the hook said
	ReasonQuestion        ReasonCode = "question"         //
	ReasonPlanFirst       ReasonCode = "plan_first"       //
	ReasonPlanReady       ReasonCode = "plan_ready"       //
	ReasonAsksNothing     ReasonCode = "asks_nothing"     //
)

// reasons are the English sentences.
var reasons = map[ReasonCode]string{
	ReasonToolOff:         "The tool {0} is switched off here.",
	ReasonSkill:           "The skill {0} is in use, and the tools that it allows are: {1}.",
	ReasonAgent:           "This is the agent {0}, and the tools that it may call are: {1}.",
	ReasonSkillApproved:   "The skill {0} is in use, which approves this in advance.",
	ReasonNeverAsks:       "This mode never asks.",
	ReasonControls:        "{0} can make other programs run code, so changing it always needs consent.",
	ReasonSecret:          "{0} may hold secrets, and what is read is sent to the model's provider.",
	ReasonOwnFolder:       "{0} lies in a folder that no tool may touch.",
	ReasonOutside:         "{0} lies outside the project.",
	ReasonLeadsOutside:    "{0} leads to {1}, which lies outside the project.",
	ReasonCommand:         "A command can change anything that your user account can change.",
	ReasonCommandUnsure:   "It seems only to read, but it cannot be told in advance what this part reads or runs: {0}",
	ReasonCommandPlace:    "It seems only to read, but what it runs or reads depends on things that cannot be told in advance: where its programs are found, which files a pattern means, or what the settings of git start.",
	ReasonCommandReads:    "This command only reads inside the project.",
	ReasonChanges:         "This changes {0}.",
	ReasonChangesTwo:      "This changes {0} and 1 other file.",
	ReasonChangesMore:     "This changes {0} and {1} other files.",
	ReasonReads:           "This only reads inside the project.",
	ReasonOwn:             "This concerns only what this session itself starts.",
	ReasonConfined:        "This command runs confined: it can write only in the project, and it reaches only what the settings allow.",
	ReasonUnconfined:      "This command asks to run without confinement: it could then change any file that you can change, and reach the network.",
	ReasonHosts:           "This command needs {0}, which confined commands cannot reach here.",
	ReasonWeb:             "This sends a request to {0}, and what comes back is shown to the model.",
	ReasonUnforeseen:      "What the tool {0} does cannot be foreseen.",
	ReasonRuleDenies:      "The rule {0} denies it.",
	ReasonRuleAsks:        "The rule {0} wants you to be asked.",
	ReasonRuleUnsure:      "It cannot be told whether the rule {0} holds for this.",
	ReasonRuleAllows:      "The rule {0} allows it.",
	ReasonRulesUnread:     "The rules in {0} cannot be read, so commands that no other rule allows are asked about.",
	ReasonListsDeny:       "The lists in the settings (sandbox) deny this: {0}",
	ReasonListsAsk:        "The lists in the settings (sandbox) want this to be asked: {0}",
	ReasonCallbackDenied:  "The program that runs this session refused it. {0}",
	ReasonCallbackAsks:    "The program that runs this session wants you to be asked. {0}",
	ReasonCallbackAllowed: "The program that runs this session allowed it. {0}",
	ReasonHookRefused:     "A hook refused it: {0}",
	ReasonHookWantsAsked:  "A hook wants you to be asked. {0}",
	ReasonHookAllowed:     "A hook allowed it. {0}",
	ReasonQuestion:        "The agent has a question.",
	ReasonPlanFirst:       "The agent wants to make a plan before it changes anything.",
	ReasonPlanReady:       "The agent's plan is ready.",
	ReasonAsksNothing:     "This mode asks nothing.",
}

// Because returns a verdict with its reason in both forms.
func Because(d Decision, code ReasonCode, args ...string) Verdict {
	return Verdict{Decision: d, Reason: strings.TrimSpace(Fill(reasons[code], args)), Code: code, Args: args}
}

// Fill puts arguments in the places of a sentence that are marked {0}, {1} and so
// on. A mark inside an argument stays as it is.
func Fill(sentence string, args []string) string {
	pairs := make([]string, 0, 2*len(args))
	for i, arg := range args {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", arg)
	}
	return strings.NewReplacer(pairs...).Replace(sentence)
}
