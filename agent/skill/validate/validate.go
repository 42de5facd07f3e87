package validate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
)

// Preset says what the rules ask.
type Preset string

// The presets. BMAD has the fourteen rules to the letter. Generic, which is the default, asks
// no prefix of names, accepts other ways to say when a skill is for, and leaves what a skill
// only hands on (agents, templates, examples) to its own rules.
const (
	Generic Preset = "generic"
	BMAD    Preset = "bmad"
)

// Options are what a check depends on.
type Options struct {
	Preset Preset
	Known  skill.KnownTools
	// ProjectRoot is where references of the project lead, such as {project-root}/docs, and
	// those that leave the skill's own folder. Without it these are not checked.
	ProjectRoot string
}

// ErrNotFolder says that there is no folder to check.
var ErrNotFolder = errors.New("it is not a folder")

// Check returns what is wrong with the skill in a folder, gravest first, including what
// reading it found. An error means that the folder itself cannot be read.
func Check(dir string, o Options) ([]skill.SkillFinding, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find a folder of skills: %w", err)
	}
	root, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	c := &checker{o: o, folder: filepath.Base(dir), skill: filepath.Base(dir), at: &place{root: root}}
	if o.ProjectRoot != "" {
		if project, rel, err := openProject(o.ProjectRoot, dir); err == nil {
			defer project.Close()
			c.at.project, c.at.within = project, rel
		}
	}
	entries, err := rootEntries(root)
	if err != nil {
		return nil, fmt.Errorf("list a folder of skills: %w", err)
	}
	c.main = mainFile(entries, o.Preset)
	if c.main == "" {
		c.main = mainName
		c.find(skill01, mainName, 0)
		return c.sorted(), nil
	}
	text, err := c.readMain()
	if err != nil {
		return c.sorted(), nil
	}
	s := skill.Parse(skill.Place{Kind: skill.KindSkill, Folder: dir, File: filepath.Join(dir, c.main)}, c.folder, text, o.Known)
	c.skill = s.Name
	c.text(s, text)
	if !s.Broken() {
		c.files()
	}
	return c.sorted(), nil
}

// CheckText returns what is wrong with the text of a skill's main file, gravest first,
// including what reading it found: everything that can be told without its folder.
func CheckText(s skill.Skill, text string, o Options) []skill.SkillFinding {
	c := &checker{o: o, skill: s.Name, main: mainName}
	if s.Place.File != "" {
		c.main = filepath.Base(s.Place.File)
	}
	if s.Place.Folder != "" {
		c.folder = filepath.Base(s.Place.Folder)
	}
	c.text(s, text)
	return c.sorted()
}

// Order sorts findings: gravest first, then by skill, file, line and rule.
func Order(findings []skill.SkillFinding) {
	rank := []skill.SkillSeverity{skill.Critical, skill.High, skill.Medium, skill.Low}
	slices.SortStableFunc(findings, func(a, b skill.SkillFinding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity)), cmp.Compare(a.Skill, b.Skill),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule),
		)
	})
}

// checker gathers the findings about one skill.
type checker struct {
	o Options
	// skill is its name and folder the name of its folder, which is empty if it has none.
	skill, folder string
	main          string // the name of its main file
	at            *place // nil if only its text is checked
	findings      []skill.SkillFinding
	counts        map[rule]int
}

// place is where references of a skill may lead.
type place struct {
	root    *os.Root // its folder
	project *os.Root // nil if there is none
	within  string   // the skill's folder in the project
	looked  int
}

// maxSame limits how often one rule is reported for a skill.
const maxSame = 50

func (c *checker) find(r rule, file string, line int, args ...string) {
	c.findAs(rules[r].severity, r, file, line, args...)
}

// findAs adds a finding with a severity of its own.
func (c *checker) findAs(severity skill.SkillSeverity, r rule, file string, line int, args ...string) {
	if c.counts == nil {
		c.counts = map[rule]int{}
	}
	if c.counts[r]++; c.counts[r] > maxSame {
		return
	}
	c.add(severity, r, file, line, args...)
}

func (c *checker) add(severity skill.SkillSeverity, r rule, file string, line int, args ...string) {
	for i, a := range args {
		args[i] = shortened(a)
	}
	say := rules[r]
	name, _, _ := strings.Cut(string(r), "/")
	c.findings = append(c.findings, skill.SkillFinding{
		Skill: c.skill, Rule: name, Title: say.title, Severity: severity, File: file, Line: line,
		Message: agent.Fill(say.message, args), Fix: agent.Fill(say.fix, args), Args: args,
	})
}

// sorted returns the findings, with one for those that are not listed.
func (c *checker) sorted() []skill.SkillFinding {
	for _, r := range order {
		if more := c.counts[r] - maxSame; more > 0 {
			c.add(rules[r].severity, moreOfOne, c.main, 0, strconv.Itoa(more), string(r))
		}
	}
	Order(c.findings)
	return c.findings
}

// shortened returns the beginning of a foreign text, on one line.
func shortened(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
	if r := []rune(text[:min(len(text), 4*most)]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// reason returns why a file cannot be read, without its path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
