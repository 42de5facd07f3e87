package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/agent/skill/validate"
	"atelier.dev/atelier/backend/projects"
	"atelier.dev/atelier/cmd/cli/output"
)

// checkedFinding is a finding as it is printed. Its file is relative to the current
// folder if it is below that, and absolute otherwise.
type checkedFinding struct {
	Skill    string              `json:"skill"`
	Rule     string              `json:"rule"`
	Title    string              `json:"title"`
	Severity skill.SkillSeverity `json:"severity"`
	File     string              `json:"file"`
	Line     int                 `json:"line"` // 0 for all of the file
	Detail   string              `json:"detail"`
	Message  string              `json:"message"` // the same as Detail
	Fix      string              `json:"fix"`
}

// checkedSkill is a skill or a command with what is wrong with it.
type checkedSkill struct {
	name     string
	path     string // its folder or file, as it is printed
	findings []checkedFinding
}

// validation is one run of atelier skills validate.
type validation struct {
	c       *command
	options validate.Options
	root    string // --project-root
	here    string // the current folder
	skills  []checkedSkill
}

// validateSkills checks skills. It fails with --strict if a finding is high or worse.
func (c *command) validateSkills(use string, args []string) int {
	flags := c.flags(use)
	strict := flags.Bool("strict", false, "exit with 1 if a finding is HIGH or CRITICAL")
	asJSON := flags.Bool("json", false, "print the findings as one JSON array")
	preset := flags.String("preset", string(validate.Generic), "generic, or bmad: names begin with bmad-, and every rule holds to the letter")
	root := flags.String("project-root", "", "what {project-root} stands for (default: the repository of DIR)")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	v := &validation{c: c, options: validate.Options{Preset: validate.Preset(*preset)}, root: *root}
	if v.options.Preset != validate.Generic && v.options.Preset != validate.BMAD {
		return c.misused(flags, "--preset is generic or bmad")
	}
	var err error
	if v.here, err = os.Getwd(); err == nil {
		if flags.NArg() == 0 {
			err = v.project()
		} else {
			err = v.folders(flags.Args())
		}
	}
	if err != nil {
		fmt.Fprintln(c.err, line(err.Error()))
		return exitUsage
	}
	if *asJSON {
		err = v.printJSON()
	} else {
		v.print()
	}
	if err == nil {
		err = v.report(*asJSON)
	}
	switch {
	case err != nil:
		fmt.Fprintln(c.err, line(err.Error()))
		return exitFailed
	case *strict && v.count(skill.Critical)+v.count(skill.High) > 0:
		return exitFailed
	}
	return exitDone
}

// folders checks the skills of folders. All of them are looked for before one is checked.
func (v *validation) folders(dirs []string) error {
	var found []string
	for _, dir := range dirs {
		skills, err := validate.Folders(dir, skill.MaxSkills)
		if err != nil {
			return err
		}
		for _, each := range skills {
			if each, err = filepath.Abs(each); err != nil {
				return fmt.Errorf("find %s: %w", dir, err)
			}
			if !slices.Contains(found, each) {
				found = append(found, each)
			}
		}
	}
	for _, dir := range found {
		o := v.options
		if o.ProjectRoot = v.root; v.root == "" {
			o.ProjectRoot = repositoryOf(dir)
		}
		if err := v.check(dir, o); err != nil {
			return err
		}
	}
	return nil
}

// repositoryOf returns the folder of the repository that a folder is in; empty if there
// is none.
func repositoryOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// project checks every skill and command that is loaded here.
func (v *validation) project() error {
	folder, err := projects.Resolve(v.here)
	if err != nil {
		return err
	}
	user := v.c.getenv("HOME")
	if !filepath.IsAbs(user) {
		user = ""
	}
	found := skill.Discover(v.c.ctx, skill.Roots(user, folder), nil)
	for _, f := range found.Folders {
		if f.Err != nil {
			fmt.Fprintf(v.c.err, "%s cannot be read: %s\n", line(f.Path), line(f.Err.Error()))
		}
	}
	if found.More {
		fmt.Fprintln(v.c.err, "There are more skills than are loaded.")
	}
	for _, s := range skill.Resolve(found.Skills).Skills { // with what is found of their aliases
		if i := slices.IndexFunc(found.Skills, func(o skill.Skill) bool { return o.Key() == s.Key() }); i >= 0 {
			found.Skills[i] = s
		}
	}
	for _, s := range found.Skills {
		if err := v.c.ctx.Err(); err != nil {
			return err
		}
		switch {
		case s.Place.Kind == skill.KindBuiltIn:
		case s.Place.Kind == skill.KindCommand || s.Broken():
			v.add(s.Name, s.Place.File, filepath.Dir(s.Place.File), validate.CheckText(s, s.Body, v.options))
		default:
			o := v.options
			if o.ProjectRoot = v.root; v.root == "" && s.Place.Scope == agent.ScopeProject {
				o.ProjectRoot = folder
			}
			if err := v.check(s.Place.Folder, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// check checks the skill in a folder.
func (v *validation) check(dir string, o validate.Options) error {
	findings, err := validate.Check(dir, o)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(v.c.err, "%s was moved and is not checked.\n", line(v.path(dir)))
		return nil
	}
	if err == nil {
		v.add(filepath.Base(dir), dir, dir, findings)
	}
	return err
}

func (v *validation) add(name, path, dir string, findings []skill.SkillFinding) {
	s := checkedSkill{name: name, path: v.path(path)}
	for _, f := range findings {
		s.findings = append(s.findings, checkedFinding{
			Skill: f.Skill, Rule: f.Rule, Title: f.Title, Severity: f.Severity, File: v.path(filepath.Join(dir, filepath.FromSlash(f.File))),
			Line: f.Line, Detail: f.Message, Message: f.Message, Fix: f.Fix,
		})
	}
	v.skills = append(v.skills, s)
}

// path returns a path as it is printed.
func (v *validation) path(name string) string {
	if rel, err := filepath.Rel(v.here, name); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	return filepath.ToSlash(name)
}

func (v *validation) count(severity skill.SkillSeverity) (n int) {
	for _, s := range v.skills {
		for _, f := range s.findings {
			if f.Severity == severity {
				n++
			}
		}
	}
	return n
}

// all returns the findings of all skills, gravest first.
func (v *validation) all() []checkedFinding {
	all := []checkedFinding{}
	for _, s := range v.skills {
		all = append(all, s.findings...)
	}
	slices.SortStableFunc(all, func(a, b checkedFinding) int {
		return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
	})
	return all
}

// severities are in the order in which findings are listed.
var severities = []skill.SkillSeverity{skill.Critical, skill.High, skill.Medium, skill.Low}

func (v *validation) printJSON() error { return output.WriteJSON(v.c.out, v.all()) }

// print lists the findings for people.
func (v *validation) print() {
	out, found := v.c.out, 0
	for _, s := range v.skills {
		if len(s.findings) == 0 {
			continue
		}
		found++
		fmt.Fprintln(out, line(s.path))
		for _, f := range s.findings {
			place := line(f.File)
			if f.Line > 0 {
				place += fmt.Sprintf(":%d", f.Line)
			}
			fmt.Fprintf(out, "  %-8s  %-8s  %s\n            %s\n", f.Severity, f.Rule, place, line(f.Message))
			if f.Fix != "" {
				fmt.Fprintf(out, "            %s\n", line(f.Fix))
			}
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out, v.summary())
}

// summary counts skills and findings.
func (v *validation) summary() string {
	if len(v.skills) == 0 {
		return "There are no skills to check."
	}
	with := 0
	for _, s := range v.skills {
		if len(s.findings) > 0 {
			with++
		}
	}
	text := fmt.Sprintf("%d checked: ", len(v.skills))
	if with == 0 {
		return text + "nothing found."
	}
	var counts []string
	for _, severity := range severities {
		counts = append(counts, fmt.Sprintf("%d %s", v.count(severity), strings.ToLower(string(severity))))
	}
	return text + fmt.Sprintf("findings about %d, of which ", with) + strings.Join(counts, ", ") + "."
}
