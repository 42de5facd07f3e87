package backend

// Problems of permission rules. Those that begin with "rule_" and say why a rule
// cannot be read have its text first.
const (
	ProblemRuleEmpty       ProblemID = "rule_empty"
	ProblemRuleLong        ProblemID = "rule_long"
	ProblemRuleHidden      ProblemID = "rule_hidden"
	ProblemRuleBracket     ProblemID = "rule_bracket"
	ProblemRuleTool        ProblemID = "rule_tool"
	ProblemRuleSelector    ProblemID = "rule_selector"
	ProblemRuleTools       ProblemID = "rule_tools"
	ProblemRuleParent      ProblemID = "rule_parent"
	ProblemRulePattern     ProblemID = "rule_pattern"
	ProblemRuleStars       ProblemID = "rule_stars"
	ProblemRuleDomain      ProblemID = "rule_domain"
	ProblemRuleForm        ProblemID = "rule_form"
	ProblemRuleDecision    ProblemID = "rule_decision"
	ProblemRulePast        ProblemID = "rule_past"
	ProblemRuleScope       ProblemID = "rule_scope"
	ProblemRuleMissing     ProblemID = "rule_missing"
	ProblemRuleOther       ProblemID = "rule_other"
	ProblemRulesFull       ProblemID = "rules_full"
	ProblemRulesFile       ProblemID = "rules_file"
	ProblemRulesFileUnread ProblemID = "rules_file_unread"
	ProblemRulesChanged    ProblemID = "rules_changed"
	ProblemRulesUnwritten  ProblemID = "rules_unwritten"
	// Of settings files of any kind: the file, and what it is a link to.
	ProblemLinkOutside ProblemID = "link_outside"
	ProblemLinkNowhere ProblemID = "link_nowhere"
)

const (
	keptRules    = "The rules were not changed."
	nextRuleForm = "A rule is the name of a tool, or of the form Bash(git push *)."
)

var ruleProblems = map[ProblemID]problem{
	ProblemRuleEmpty:    {code: CodeInvalid, message: "The rule is empty.", kept: keptRules, next: nextRuleForm},
	ProblemRuleLong:     {code: CodeInvalid, message: "The rule {0} is longer than {1} bytes.", kept: keptRules},
	ProblemRuleHidden:   {code: CodeInvalid, message: "The rule {0} contains invisible characters.", kept: keptRules, next: "Type it again."},
	ProblemRuleBracket:  {code: CodeInvalid, message: "The rule {0} has one bracket without the other.", kept: keptRules, next: nextRuleForm},
	ProblemRuleTool:     {code: CodeInvalid, message: `The rule {0} does not begin with the name of a tool.`, kept: keptRules, next: nextRuleForm},
	ProblemRuleSelector: {code: CodeInvalid, message: "The brackets of the rule {0} are empty.", kept: keptRules, next: "Leave them out to mean every call of the tool."},
	ProblemRuleTools: {
		code: CodeInvalid, message: "The rule {0} names several tools, so it cannot have brackets.",
		kept: keptRules, next: "Write a rule for each tool.",
	},
	ProblemRuleParent:  {code: CodeInvalid, message: `The pattern of the rule {0} has ".." in it.`, kept: keptRules, next: "Begin the pattern with // for the whole computer or with ~/ for your home folder."},
	ProblemRulePattern: {code: CodeInvalid, message: "The pattern of the rule {0} ends in a backslash or has a bracket that is not closed.", kept: keptRules},
	ProblemRuleStars:   {code: CodeInvalid, message: `The pattern of the rule {0} has "**" more than {1} times.`, kept: keptRules},
	ProblemRuleDomain:  {code: CodeInvalid, message: "The rule {0} does not name a host.", kept: keptRules, next: "Write it in the form WebFetch(domain:example.com)."},
	ProblemRuleForm:    {code: CodeInvalid, message: "{0} is not a rule, or its end is not a date.", kept: keptRules, next: nextRuleForm},
	ProblemRuleDecision: {
		code: CodeInvalid, message: "A rule allows, asks or denies.", kept: keptRules,
	},
	ProblemRulePast:    {code: CodeInvalid, message: "The rule would end in the past.", kept: keptRules},
	ProblemRuleScope:   {code: CodeInvalid, message: "Rules cannot be kept there.", kept: keptRules},
	ProblemRuleMissing: {code: CodeNotFound, message: "The rule {0} no longer exists.", kept: keptRules},
	ProblemRuleOther: {
		code: CodeInvalid, message: "The rule {0} does not match this call.",
		kept: "The request still waits for an answer.", next: "Choose another rule, or answer once.",
	},
	ProblemRulesFull: {code: CodeInvalid, message: "There are too many rules.", kept: keptRules, next: "Remove some that are not needed."},
	ProblemRulesFile: {
		code: CodeInvalid, message: "{0} cannot be read from line {1} on, so commands that no other rule allows are asked about.",
		kept: "The file was not changed.", next: "Correct it.",
	},
	ProblemRulesFileUnread: {
		code: CodeInvalid, message: "{0} cannot be read, so commands that no other rule allows are asked about.",
		kept: "The file was not changed.", next: "Make it a file that you may read.",
	},
	ProblemRulesChanged: {
		code: CodeBusy, message: "{0} has changed since it was shown.",
		kept: "Nothing was accepted.", next: "Look at its rules again.",
	},
	ProblemRulesUnwritten: {
		code: CodeFolder, message: "The rule could not be written to {0}.",
		kept: keptRules, next: "Check that it is a file of JSON that you may write.",
	},
	ProblemLinkOutside: {
		code: CodeInvalid, message: "{0} is a link to {1}, which is outside the project, so it is neither read nor written.",
		kept: "Nothing was changed.", next: "Put a file in its place. Only your own settings, in your home folder, may be links to anywhere.",
	},
	ProblemLinkNowhere: {
		code: CodeInvalid, message: "{0} is a link to {1}, which does not exist.",
		kept: "Nothing was changed.", next: "Create that file, or remove the link.",
	},
}
