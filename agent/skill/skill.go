package skill

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// SkillKind says where a skill was read from.
type SkillKind string

// The kinds.
const (
	KindBuiltIn SkillKind = "built_in"
	KindSkill   SkillKind = "skill"   // a folder with a SKILL.md
	KindCommand SkillKind = "command" // a Markdown file in a folder of commands
)

// Skill is one skill as it was read. It does not change any more.
type Skill struct {
	// Name is what calls it: the folder's name, or the path of a command's file below
	// its folder, with ":" between the parts. Label is what its file calls it, if that
	// is something else.
	Name, Label string
	Aliases     []string
	Place       Place
	// Description and WhenToUse tell a model what it is for.
	Description, WhenToUse string
	Usage                  Usage
	Limits                 Limits
	// Body is the template of its prompt, without the frontmatter.
	Body string
	// Files are the other files of its folder, relative to it, with slashes; MoreFiles
	// counts what is not listed: files beyond the limit, and folders and links that are
	// not followed.
	Files     []File
	MoreFiles int
	// Findings are what is wrong with it, as far as reading told.
	Findings []SkillFinding
}

// Place is where a skill stands.
type Place struct {
	Kind SkillKind
	// Scope is user or project; empty for a built-in one.
	Scope agent.Scope
	// Root is the folder of skills where it was found, Folder its own, File its main
	// file, all absolute. A command has no folder of its own.
	Root, Folder, File string
}

// Usage says how a skill may be used.
type Usage struct {
	// ByUser allows "/name", ByModel the Skill tool.
	ByUser, ByModel bool
	// Hint shows what arguments it takes; Arguments are the names of those that its
	// body uses by name.
	Hint      string
	Arguments []string
	// Unavailable says why it cannot be used here; empty if it can.
	Unavailable string
}

// Limits are what holds while a skill is in use.
type Limits struct {
	// Limited says that only Tools may be called. They are as permission rules are
	// written, under canonical names.
	Limited       bool
	Tools, Denied []string
	// Approved are calls about which nobody is asked, once the skill's file is trusted (K-46).
	Approved []string
	// Model is as its file names it; empty means the session's.
	Model  string
	Effort llm.Effort
}

// File is a supporting file.
type File struct {
	Path string
	Size int64
	// Runs says that it can be run: it is executable, begins with "#!", or stands in a
	// folder "scripts".
	Runs bool
}

// SkillSeverity says how grave a finding is.
type SkillSeverity string

// The severities, gravest first.
const (
	Critical SkillSeverity = "CRITICAL"
	High     SkillSeverity = "HIGH"
	Medium   SkillSeverity = "MEDIUM"
	Low      SkillSeverity = "LOW"
)

// SkillFinding is something wrong with a skill.
type SkillFinding struct {
	Skill string `json:"skill"`
	// Rule is a rule of the validator, such as SKILL-02, or else one of reading.
	Rule     string        `json:"rule"`
	Title    string        `json:"title"`
	Severity SkillSeverity `json:"severity"`
	// File is relative to the skill's folder, with slashes. Line is 0 for all of it.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Message says what is wrong, in English, and Fix what to do about it. Args fill the
	// page's own words for the rule.
	Message string   `json:"message"`
	Fix     string   `json:"fix,omitempty"`
	Args    []string `json:"args,omitempty"`
}

// Use returns what the session is told when the skill begins.
func (s Skill) Use(args string, byUser bool) agent.SkillUse {
	return agent.SkillUse{
		Name: s.Name, File: s.Place.File, Args: args, Limited: s.Limits.Limited,
		Tools: s.Limits.Tools, Approved: s.Limits.Approved, Denied: s.Limits.Denied, Effort: s.Limits.Effort, ByUser: byUser,
	}
}
