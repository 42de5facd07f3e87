package validate

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/internal/frontmatter"
	"atelier.dev/atelier/agent/skill"
)

type rule string

const (
	skill01   rule = "SKILL-01"
	skill02   rule = "SKILL-02"
	skill03   rule = "SKILL-03"
	skill04   rule = "SKILL-04"
	skill05   rule = "SKILL-05"
	skill06   rule = "SKILL-06"
	skill07   rule = "SKILL-07"
	wf01      rule = "WF-01"
	wf02      rule = "WF-02"
	path02    rule = "PATH-02"
	step01    rule = "STEP-01"
	step06    rule = "STEP-06"
	step07    rule = "STEP-07"
	seq02     rule = "SEQ-02"
	tooLong   rule = "SKILL-06/1" // another sentence of the rule
	refFile   rule = "REF-01"
	refExec   rule = "REF-02"
	refPath   rule = "REF-03"
	refTable  rule = "REF-04"
	unread    rule = "CHECK-01"
	moreFiles rule = "CHECK-02"
	moreOfOne rule = "CHECK-03"
)

// order has every rule that can be found more than once.
var order = []rule{wf01, wf02, path02, step01, step06, seq02, refFile, refExec, refPath, refTable, unread}

// rules say what is found. Arguments fill {0} and {1}.
var rules = map[rule]struct {
	severity            skill.SkillSeverity
	title, message, fix string
}{
	skill01: {skill.Critical, "SKILL.md is missing", "The folder has no SKILL.md.", "Write a SKILL.md with a name, a description and instructions."},
	skill02: {skill.Critical, "the name is missing", "The frontmatter has no name, or an empty one.", "Add a line with the folder's name, such as name: {0}."},
	skill03: {skill.Critical, "the description is missing", "The frontmatter has no description, or an empty one.", "Add a description that says what the skill does and when to use it."},
	skill04: {skill.High, "the name has another form", "The name {0} does not match {1}, or has more than 64 characters.", "Use lower-case letters and digits, with single hyphens between words."},
	skill05: {skill.High, "the name differs from the folder", "The name {0} is not that of the folder, {1}.", "Give the folder and the skill the same name, of lower-case letters and digits with single hyphens between words."},
	skill06: {skill.Medium, "the description does not say when", "The description does not say when to use the skill: it has neither “Use when” nor “Use if”.", "Add a sentence to it that begins with “Use when”."},
	skill07: {skill.High, "there are no instructions", "Nothing follows the frontmatter.", "Write the instructions below the frontmatter."},
	wf01:    {skill.High, "another file has a name", "The frontmatter of {0} has a name, which belongs into SKILL.md alone.", "Take the name out of this file."},
	wf02:    {skill.High, "another file has a description", "The frontmatter of {0} has a description, which belongs into SKILL.md alone.", "Take the description out of this file."},
	path02:  {skill.High, "installed_path is used", "The variable installed_path is used, which names another place wherever the skill is installed.", "Write a relative path, with ./ or ../ at its beginning."},
	step01:  {skill.Medium, "a step is named differently", "The file's name {0} does not match {1}.", "Rename it to step-NN-what-it-does.md, with two digits."},
	step06:  {skill.Medium, "a step has metadata", "The frontmatter of a step has the key {0}, which it inherits from its skill.", "Take the key out."},
	step07:  {skill.Low, "too few or too many steps", "The number of steps is {0}; 2 to 10 are right.", "Put a single step into the file that starts it; join steps if there are many."},
	seq02:   {skill.Low, "a time is estimated", "How long something takes depends on the model and the machine: {0}", "Take the estimate out."},

	tooLong:   {skill.Medium, "the description is too long", "The description has {0} characters; 1,024 is the limit.", "Shorten it; details belong into the instructions."},
	refFile:   {skill.Medium, "a reference leads to nothing", "The reference {0} leads to no file or folder.", "Correct the path, or add what is missing."},
	refExec:   {skill.High, "what is to be carried out is missing", "The target {0} does not exist.", "Correct the path, or add the file."},
	refPath:   {skill.High, "a path belongs to one computer", "The path {0} exists on one computer only.", "Write a path relative to this file."},
	refTable:  {skill.Medium, "a table names a file that is missing", "The table names {0}, which does not exist.", "Correct the path, or add the file."},
	unread:    {skill.Medium, "a file was not checked", "The file cannot be checked: {0}.", "Check that you may read it, and that it has less than 1 MB."},
	moreFiles: {skill.Low, "not everything was checked", "The folder has more files than are checked.", "Move what the skill does not need out of its folder."},
	moreOfOne: {skill.Low, "more of the same", "{0} more findings of {1} are not listed.", "Mend those that are listed, and check again."},
}

// The forms of names and files, and what estimates a time.
var (
	genericName  = lazily(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	bmadName     = lazily(`^bmad-[a-z0-9]+(-[a-z0-9]+)*$`)
	stepName     = lazily(`^step-\d{2}[a-z]?-[a-z0-9-]+\.md$`)
	bmadWhen     = lazily(`(?i)use\s+(?:when|if)\b`)
	genericWhen  = lazily(`(?i)\buse[sd]?\s+(?:only\s+)?(?:when|if|for|from)\b|\buse[sd]?\s+(?:[^\s.!?]+\s+){1,12}?(?:when|whenever|if)\b`)
	bmadEstimate = lazily(`(?i:takes?\s+\d+\s*min|~\s*\d+\s*min|estimated\s+time)|\bETA\b`)
	// Minutes of something, a parcel's ETA and a column of times are about other things.
	genericEstimate = lazily(`(?i:takes?\s+(?:about\s+|around\s+)?\d+\s*min|~\s*\d+\s*min(?:ute)?s?\.?\s*(?:$|[^\w\s])|estimated\s+time[^\w|]*\d)|\bETA\b[^\w|]*\d`)
	installedPath   = lazily(`(?i)installed_path`)
)

const (
	maxName        = 64
	maxDescription = 1024
)

// text checks the main file.
func (c *checker) text(s skill.Skill, text string) {
	for _, f := range s.Findings {
		if f.Rule != "READ-05" { // no frontmatter means no name and no description
			c.findings = append(c.findings, f)
		}
	}
	if s.Broken() {
		return
	}
	front := frontmatter.Read(text)
	if s.Place.Kind != skill.KindCommand {
		c.identity(front)
		c.description(front)
	}
	if strings.TrimSpace(front.Body) == "" {
		c.find(skill07, c.main, max(1, front.BodyLine-1))
	}
	if s.Place.Kind != skill.KindCommand {
		c.prose(c.main, text)
	}
}

// identity checks the name.
func (c *checker) identity(front frontmatter.Front) {
	name, line := value(front, "name")
	form := genericName()
	if c.o.Preset == BMAD {
		form = bmadName()
	}
	switch {
	case name == "":
		c.find(skill02, c.main, line, exampleName(c.folder))
		return
	case !form.MatchString(name) || utf8.RuneCountInString(name) > maxName:
		c.find(skill04, c.main, line, name, form.String())
	}
	if c.folder != "" && name != c.folder {
		c.find(skill05, c.main, line, name, c.folder)
	}
}

// HasNameForm reports whether a name has the form that a skill's name should have.
func HasNameForm(name string) bool {
	return genericName().MatchString(name) && utf8.RuneCountInString(name) <= maxName
}

// exampleName returns the folder's name as an example, if it has the form of one.
func exampleName(folder string) string {
	if !HasNameForm(folder) {
		return "my-skill"
	}
	return folder
}

// description checks what models choose the skill by.
func (c *checker) description(front frontmatter.Front) {
	text, line := value(front, "description")
	if text == "" {
		c.find(skill03, c.main, line)
		return
	}
	if n := utf8.RuneCountInString(text); n > maxDescription {
		c.find(tooLong, c.main, line, strconv.Itoa(n))
	}
	says := bmadWhen().MatchString(text) || strings.HasPrefix(strings.ToLower(text), "deprecated") // as BMAD's own validator has it
	if c.o.Preset != BMAD {
		when, _ := value(front, "when-to-use")
		says = says || when != "" || genericWhen().MatchString(text)
	}
	if !says {
		c.find(skill06, c.main, line)
	}
}

// value returns what a key says, and its line; that of the frontmatter if the key is missing.
func value(front frontmatter.Front, key string) (string, int) {
	f, ok := front.Field(key)
	if !ok {
		return "", 1
	}
	if f.Kind == frontmatter.Text {
		return strings.TrimSpace(f.Text), f.Line
	}
	return "", f.Line
}

// prose checks every line outside blocks of code.
func (c *checker) prose(file, text string) {
	n, estimate := 0, genericEstimate
	if c.o.Preset == BMAD {
		estimate = bmadEstimate
	}
	for line := range strings.Lines(withoutCode(text)) {
		n++
		if installedPath().MatchString(line) {
			c.find(path02, file, n)
		}
		if estimate().MatchString(line) {
			c.find(seq02, file, n, line)
		}
		for _, leak := range absolutePaths(line, c.o.Preset) {
			c.find(refPath, file, n, leak)
		}
	}
	c.references(file, text)
}
