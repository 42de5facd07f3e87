package skills

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// SkillsRequest is for skills.list. With a session, its own place counts.
type SkillsRequest struct {
	Session string `json:"session,omitempty"`
}

// SkillsReply answers skills.list: every skill and command that was found, those that can be
// used first.
type SkillsReply struct {
	Skills []SkillRow `json:"skills,omitempty"`
	// Folders are where they are looked for, the weakest first.
	Folders []SkillFolder `json:"folders,omitempty"`
	// Tokens is what the list of skills takes of each model's window, Budget what it may
	// take. Unlisted counts the skills whose descriptions did not fit.
	Tokens   int `json:"tokens"`
	Budget   int `json:"budget"`
	Unlisted int `json:"unlisted,omitempty"`
	// More says that there are more than are read.
	More bool `json:"more,omitempty"`
	// Removed can be restored, the newest first.
	Removed []SkillRemoved `json:"removed,omitempty"`
}

// SkillRemoved is a skill in the trash.
type SkillRemoved struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// From is where it was, as it is shown.
	From string `json:"from"`
	At   int64  `json:"at"` // in milliseconds since 1970
}

// SkillFolder is a folder where skills or commands are looked for.
type SkillFolder struct {
	Path  string          `json:"path"`
	Scope agent.Scope     `json:"scope"`
	Kind  skill.SkillKind `json:"kind"`
	// Missing says that there is no such folder. Problem is why it cannot be read.
	Missing bool           `json:"missing,omitempty"`
	Problem *backend.Error `json:"problem,omitempty"`
	Count   int            `json:"count,omitempty"`
}

// SkillRow is one skill in the list.
type SkillRow struct {
	// ID identifies what stands at this place, whatever its text.
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Label       string          `json:"label,omitempty"`
	Aliases     []string        `json:"aliases,omitempty"`
	Kind        skill.SkillKind `json:"kind"`
	Description string          `json:"description,omitempty"`
	State       SkillState      `json:"state"`
	Place       SkillPlace      `json:"place"`
	// Others are, of a hidden skill, the file of the one that has its name; of any other, the
	// files of those that it hides.
	Others []string    `json:"others,omitempty"`
	Usage  SkillUsage  `json:"usage"`
	Weight SkillWeight `json:"weight"`
	// Findings counts them by severity, gravest first.
	Findings []SkillCount `json:"findings,omitempty"`
}

// SkillPlace is where a skill stands.
type SkillPlace struct {
	Scope agent.Scope `json:"scope,omitempty"`
	// Folder and File are as they are shown, relative to the project or the home folder.
	Folder string `json:"folder,omitempty"`
	File   string `json:"file,omitempty"`
	// Editable says that the user may edit it here.
	Editable bool `json:"editable,omitempty"`
	// Trust names it where the user decides whether it may run; empty if it runs nothing
	// that needs trust.
	Trust string `json:"trust,omitempty"`
	// Waits says that it may be used, and approves nothing in advance before the user trusts
	// it.
	Waits bool `json:"waits,omitempty"`
}

// SkillState says whether a skill can be used, or why not.
type SkillState string

// The states.
const (
	SkillReady       SkillState = "ready"
	SkillOff         SkillState = "off"         // the user switched it off
	SkillHidden      SkillState = "hidden"      // another one has its name
	SkillUntrusted   SkillState = "untrusted"   // it runs something, and the user has not decided
	SkillChanged     SkillState = "changed"     // since the user trusted it
	SkillRefused     SkillState = "refused"     // by the user
	SkillBroken      SkillState = "broken"      // it cannot be read
	SkillUnavailable SkillState = "unavailable" // it does not apply to this project
)

// SkillUsage says who may use a skill, and when it was used last, in milliseconds since
// 1970; 0 means never here.
type SkillUsage struct {
	ByUser  bool  `json:"by_user,omitempty"`
	ByModel bool  `json:"by_model,omitempty"`
	Last    int64 `json:"last,omitempty"`
	Count   int   `json:"count,omitempty"`
	// Hint shows what arguments it takes.
	Hint string `json:"hint,omitempty"`
	// Why says what makes it unavailable.
	Why string `json:"why,omitempty"`
}

// SkillWeight is what a skill takes of a model's window, in estimated tokens.
type SkillWeight struct {
	Listed int `json:"listed"` // in the list
	Body   int `json:"body"`   // when it is used
}

// SkillLimits are what holds while a skill is in use.
type SkillLimits struct {
	Limited bool     `json:"limited,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	// Approved run without a question; Waits says that they do only once the user trusts the
	// skill.
	Approved []string `json:"approved,omitempty"`
	Waits    bool     `json:"waits,omitempty"`
	Denied   []string `json:"denied,omitempty"`
	Model    string   `json:"model,omitempty"`
	Effort   string   `json:"effort,omitempty"`
}

// SkillCount counts findings of one severity.
type SkillCount struct {
	Severity skill.SkillSeverity `json:"severity"`
	Count    int                 `json:"count"`
}

// SkillRef names a skill by its id.
type SkillRef struct {
	ID string `json:"id"`
}

// SkillShown answers skills.show: a skill as it stands now.
type SkillShown struct {
	Row SkillRow `json:"row"`
	// Text is its main file, up to 256 KB; Cut says that there is more. Version changes
	// with the file.
	Text     string               `json:"text"`
	Cut      bool                 `json:"cut,omitempty"`
	Version  string               `json:"version"`
	Findings []skill.SkillFinding `json:"findings,omitempty"`
	Limits   SkillLimits          `json:"limits"`
	Files    []SkillFile          `json:"files,omitempty"`
	More     int                  `json:"more,omitempty"` // files that are not listed
	// Lines are the command lines that it runs before it is sent.
	Lines []string `json:"lines,omitempty"`
}

// SkillFile is a supporting file, which can be read with skills.file.
type SkillFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Runs bool   `json:"runs,omitempty"`
	// Text is, of what would be installed, that of a file that can be run. It is empty if
	// that is not text, or is longer than 64 KB.
	Text string `json:"text,omitempty"`
}

// SkillFileRequest is for skills.file.
type SkillFileRequest struct {
	ID   string `json:"id"`
	Path string `json:"path"`
}

// SkillFileReply is the text of a file, up to 256 KB.
type SkillFileReply struct {
	Text   string `json:"text"`
	Binary bool   `json:"binary,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
}

// SkillSaveRequest is for skills.save: it writes the main file if that is still of the
// version. Without a version, it makes a new skill.
type SkillSaveRequest struct {
	ID      string `json:"id,omitempty"`
	Version string `json:"version,omitempty"`
	Text    string `json:"text"`
	// Scope, Kind and Name are for a new one.
	Scope agent.Scope     `json:"scope,omitempty"`
	Kind  skill.SkillKind `json:"kind,omitempty"`
	Name  string          `json:"name,omitempty"`
}

// SkillCheckRequest is for skills.check: what is wrong with a text that is not saved yet.
type SkillCheckRequest struct {
	ID   string          `json:"id,omitempty"`
	Kind skill.SkillKind `json:"kind,omitempty"`
	Name string          `json:"name,omitempty"`
	Text string          `json:"text"`
}

// SkillCheckReply lists what is wrong, gravest first.
type SkillCheckReply struct {
	Findings []skill.SkillFinding `json:"findings,omitempty"`
}

// SkillSwitchRequest is for skills.switch.
type SkillSwitchRequest struct {
	ID string `json:"id"`
	On bool   `json:"on"`
}

// SkillTemplatesReply answers skills.templates: what a new skill can begin with.
type SkillTemplatesReply struct {
	Templates []SkillTemplate `json:"templates,omitempty"`
}

// SkillTemplate is a text that a new skill begins with. Its name is an id that the page
// has words for.
type SkillTemplate struct {
	Name string          `json:"name"`
	Kind skill.SkillKind `json:"kind"`
	Text string          `json:"text"`
}

// SkillTryRequest is for skills.try: what a model would be sent, without running anything.
type SkillTryRequest struct {
	ID   string `json:"id,omitempty"`
	Text string `json:"text,omitempty"` // instead of what stands there
	Args string `json:"args,omitempty"`
}

// SkillTryReply is the prompt. Lines that would be run stand in it as they are written.
type SkillTryReply struct {
	Prompt string   `json:"prompt"`
	Lines  []string `json:"lines,omitempty"`
}

// SkillInstallRequest is for skills.inspect and skills.install: skills from a folder, or
// from a .zip, .tar.gz or .skill archive, at an absolute path. Nothing is fetched.
type SkillInstallRequest struct {
	Path  string      `json:"path"`
	Scope agent.Scope `json:"scope,omitempty"`
	// Names are what to install; Seal is that of skills.inspect. Replace allows it to
	// take the place of skills that stand there.
	Names   []string `json:"names,omitempty"`
	Seal    string   `json:"seal,omitempty"`
	Replace bool     `json:"replace,omitempty"`
}

// SkillInspectReply is what an installation would write. The seal stands for exactly that.
type SkillInspectReply struct {
	Skills []SkillParcel `json:"skills,omitempty"`
	Seal   string        `json:"seal"`
}

// SkillParcel is one skill of a folder or archive.
type SkillParcel struct {
	Name        string               `json:"name"`
	Description string               `json:"description,omitempty"`
	Text        string               `json:"text"`
	Files       []SkillFile          `json:"files,omitempty"`
	Findings    []skill.SkillFinding `json:"findings,omitempty"`
	Lines       []string             `json:"lines,omitempty"`
	// Taken says that a skill of the name stands there; Same that it is this one, byte
	// for byte.
	Taken bool `json:"taken,omitempty"`
	Same  bool `json:"same,omitempty"`
	// Difference is how it differs from what stands there, as lines for people; empty
	// if it does not, or if that cannot be read.
	Difference string `json:"difference,omitempty"`
}
