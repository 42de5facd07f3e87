package profile

import (
	"cmp"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

// This file has what models bring along from other harnesses (K-43): names of
// tools, and members that are dropped silently or refused because they would
// change what a call means.

// taskOutput is TaskOutput's own input, plus the wait parameters of other
// harnesses.
type taskOutput struct {
	tool.TaskOutputInput
	Block   bool  `json:"block,omitempty"`
	Timeout int64 `json:"timeout,omitempty"`
}

// blockMs is the wait of a blocking call without a limit.
const blockMs = 30_000

func (t taskOutput) own() tool.TaskOutputInput {
	if t.Block && t.WaitMs <= 0 {
		t.WaitMs = cmp.Or(t.Timeout, blockMs)
	}
	return t.TaskOutputInput
}

// picky adds to a binding the members that it drops silently and those that it
// refuses.
func picky(b agent.Binding) agent.Binding {
	b = ignoring(b, "wait_for_previous", "description", "explanation")
	switch b.Tool {
	case "Read":
		return ignoring(refusing(b, "pages", "The text of all pages is read at once: leave it out."), "allow_large", "detail")
	case "Write":
		return refusing(b,
			"append", "The whole content is replaced: give all of it, or edit the end of the file.",
			"mode", "The whole content is replaced: give all of it, or edit the part to change.",
			"offset", "The whole content is replaced: edit the part to change instead.")
	case "Edit":
		return refusing(b, "edits", "Make one call for each edit, with old_string and new_string.")
	case "Bash":
		b = ignoring(b, "login", "justification", "sandbox_permissions", "with_escalated_permissions", "additional_permissions",
			"prefix_rule", "dangerouslyDisableSandbox")
		const runOn = "Commands that this tool runs end with the call; start the command with & and send its output to a file."
		return refusing(b, "run_in_background", runOn, "is_background", runOn, "env", "Set variables in the command line itself.",
			"stdin", "There is no input; use a pipe or a here document in the command line.")
	case "Grep":
		return refusing(b,
			"exclude_pattern", "Leave it out and pass over what it matches, or search with a command.",
			"exclude", "Exclude files by a file pattern that begins with !, such as !*_test.go.",
			"no_ignore", "Name the ignored directory as the path: then it is searched.",
			"-v", "Lines that do not match cannot be listed; use a command.")
	case "Glob":
		const ignored = "Name the ignored directory in the pattern or as the path: then it is searched."
		return refusing(ignoring(b, "respect_gemini_ignore", "case_sensitive"), "no_ignore", ignored, "exclude", "Narrow the pattern instead.")
	}
	return b
}

// habits are tools as models know them from elsewhere. Every profile
// understands them and none shows them.
var habits = sync.OnceValue(func() []agent.Binding {
	return []agent.Binding{
		known(synonyms(agent.Called("ApplyPatch", "apply_patch"), "patch", "input"), "applypatch"),
		picky(bind("Read", "view_image", "read", specRead.own)),
		picky(bind("ListDir", "LS", "listdir", same[tool.ListDirInput])),
	}
})

// absent returns advice on tools of other harnesses that do not exist here.
func absent() (out []agent.Binding) {
	for advice, names := range map[string][]string{
		"A notebook is a JSON file: read and edit it as one.":                                                {"NotebookRead"},
		"What is to be remembered belongs in AGENTS.md in the project's folder, if the user wants it there.": {"save_memory"},
		"Keep the plan in mind, and tell the user of it in your answer where that helps.": {
			"TodoWrite", "TodoRead", "write_todos", "update_plan",
		},
		"Ask in your answer, and end the turn with it.": {"AskUserQuestion", "ask_user", "request_user_input"},
		"Give the plan as your answer, and end the turn with it.": {
			"EnterPlanMode", "ExitPlanMode", "enter_plan_mode", "exit_plan_mode",
		},
		"There is no tool for the web; say so if the task needs one.": {
			"WebFetch", "WebSearch", "web_fetch", "web_search", "google_web_search",
		},
	} {
		out = append(out, instead(advice, names...)...)
	}
	return out
}
