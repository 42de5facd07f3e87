package skill

// rule names what reading found. The validator has rules of its own.
type rule string

const (
	ruleUnread   rule = "READ-01"
	ruleSize     rule = "READ-02"
	ruleOutside  rule = "READ-03"
	ruleYAML     rule = "READ-04"
	ruleNoFront  rule = "READ-05"
	ruleTool     rule = "READ-06"
	ruleNoTools  rule = "READ-07"
	ruleTools    rule = "READ-08"
	ruleBoolean  rule = "READ-09"
	ruleEffort   rule = "READ-10"
	ruleRepeated rule = "READ-11"
	ruleNoEffect rule = "READ-12"
	ruleName     rule = "READ-13"
	ruleAlias    rule = "READ-14"
	ruleFront    rule = "READ-15"
	ruleNobody   rule = "READ-16"
	rulePolicy   rule = "READ-17"
)

// breaking are the rules after which a skill is not used.
var breaking = []rule{ruleUnread, ruleSize, ruleOutside, ruleFront}

type sentence struct {
	severity            SkillSeverity
	title, message, fix string
}

// findings has what each rule says.
var findings = map[rule]sentence{
	ruleUnread:   {Critical, "the file cannot be read", "The file cannot be read: {0}.", "Check that the file exists and that you may read it."},
	ruleSize:     {Critical, "the file is too large", "The file is larger than 1 MB and was not read.", "Move its details into files of their own, which are read when they are needed."},
	ruleOutside:  {Critical, "the link leads outside", "The link leads out of the project, and such links are not followed.", "Copy the skill into the project, or link to it from your own folder of skills."},
	ruleYAML:     {Medium, "the frontmatter is not valid YAML", "The frontmatter is not valid YAML: {0}. It was read line by line instead.", "Put quotes around values with a colon, brackets or other special characters."},
	ruleNoFront:  {High, "there is no frontmatter", "The file does not begin with frontmatter.", "Begin the file with a line ---, a name, a description and another line ---."},
	ruleTool:     {Medium, "a tool is not known", "{0} is not the name of a tool, so no call matches it.", "Correct the name, or take it out."},
	ruleNoTools:  {Medium, "no tool may be called", "{0} names no tool that is known, so none may be called while the skill is in use.", "Name the tools, or take the key out to allow all."},
	ruleTools:    {Medium, "there are too many tools", "The list is too long; its last {0} entries do not count.", "Shorten the list."},
	ruleBoolean:  {Medium, "a value is not yes or no", "The value of {0} is neither true nor false: {1}.", "Write true or false."},
	ruleEffort:   {Low, "the effort is not known", "{0} is not a level of effort.", "Write low, medium, high, xhigh or max."},
	ruleRepeated: {Medium, "a key is repeated", "The key {0} stands there more than once; the first one counts.", "Take the others out."},
	ruleNoEffect: {Low, "a key has no effect", "The key {0} has no effect here.", ""},
	ruleName:     {Low, "the name cannot be typed", "The name {0} has characters that cannot be typed in a command; the skill is called {1}.", "Rename the folder or the file."},
	ruleFront:    {Critical, "the frontmatter is too long", "The frontmatter is longer than 64 KB or 1000 lines, and the file was not read.", "Move its text below the frontmatter."},
	ruleNobody:   {Medium, "nobody can use it", "Neither a person nor a model may use it.", "Take out user-invocable or disable-model-invocation."},
	rulePolicy:   {Medium, "the policy for tools is not known", "The value of tools-policy is neither limit nor approve: {0}. The tools are a limit.", "Write limit or approve."},
	ruleAlias:    {Low, "an alias is taken", "The alias {0} belongs to {1} already.", "Choose another alias."},
}
