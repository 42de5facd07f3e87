package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

// maxShown limits what is shown of a file, in bytes.
const maxShown = 256 << 10

// Show is skills.show.
func (s *Skills) Show(ctx context.Context, in SkillRef) (SkillShown, error) {
	x, p, err := s.find(ctx, in.ID)
	if err != nil {
		return SkillShown{}, err
	}
	uses, err := s.uses.all(ctx)
	if err != nil {
		return SkillShown{}, err
	}
	out := SkillShown{Row: s.row(x, p, uses[x.id]), More: x.MoreFiles, Findings: x.Findings}
	content, err := s.content(x, p)
	switch {
	case err != nil && x.Broken():
		return out, nil // the findings say why
	case err != nil:
		return SkillShown{}, err
	}
	out.Version, out.Text = version(content), text.Head(content, maxShown)
	if out.Cut = len(out.Text) < len(content); out.Cut {
		out.Version = "" // what is not shown whole is not written
	}
	now := x.Skill
	if x.Place.Kind != skill.KindBuiltIn {
		now = s.parsed(x, content)
	}
	out.Findings = s.findings(x, p, now, content)
	out.Row.Findings = counted(out.Findings)
	out.Limits, out.Lines = s.limits(now, p.folder), now.Lines()
	for _, f := range x.Files {
		out.Files = append(out.Files, SkillFile{Path: f.Path, Size: f.Size, Runs: f.Runs})
	}
	return out, nil
}

func (s *Skills) limits(x skill.Skill, folder string) SkillLimits {
	approves := approvals(x)
	return SkillLimits{
		Approved: approves, Waits: len(approves) > 0 && len(s.approved(x, folder).Limits.Approved) == 0,
		Limited: x.Limits.Limited, Tools: x.Limits.Tools, Denied: x.Limits.Denied, Model: x.Limits.Model, Effort: string(x.Limits.Effort),
	}
}

// parsed returns a skill as another text of its main file makes it.
func (s *Skills) parsed(x placed, content string) skill.Skill {
	name := x.Name
	if x.Place.Folder != "" {
		name = filepath.Base(x.Place.Folder)
	}
	now := skill.Parse(x.Place, name, content, s.cfg.Known)
	now.Files, now.MoreFiles = x.Files, x.MoreFiles
	return now
}

// findings returns what is wrong with a skill whose main file has this text.
func (s *Skills) findings(x placed, p *place, now skill.Skill, content string) []skill.SkillFinding {
	switch x.Place.Kind {
	case skill.KindSkill:
		aliases := slices.DeleteFunc(slices.Clone(x.Findings), func(f skill.SkillFinding) bool { return f.Rule != ruleAlias })
		return merged(s.checkFolder(placed{Skill: now}, p.folder), aliases)
	case skill.KindCommand:
		return merged(now.Findings)
	}
	return nil
}

// ruleAlias is the rule of a finding about the skills of a place together.
const ruleAlias = "READ-14"

func version(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:16])
}

// content returns the text of a skill's main file as it is now; the body of a built-in one.
func (s *Skills) content(x placed, p *place) (string, error) {
	if x.Place.Kind == skill.KindBuiltIn {
		return x.Body, nil
	}
	b, err := s.readFile(x, p, x.Place.File, skill.MaxFile)
	return string(b), err
}

// readFile reads a file of a skill, no more than limit. No link leads it out of the project.
// It never blocks, even if a pipe or a device has taken the file's place.
func (s *Skills) readFile(x placed, p *place, path string, limit int64) ([]byte, error) {
	shown := s.shown(path, x.Place.Scope, p.folder)
	fail := func(err error) ([]byte, error) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, backend.Problem(backend.ProblemSkillFile, shown).Because(err)
		}
		return nil, backend.Problem(backend.ProblemSkillUnread, shown).Because(err)
	}
	root, name, err := s.open(x, p, path)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return fail(err)
	} else if !info.Mode().IsRegular() {
		return fail(errors.New("it is not a regular file"))
	}
	b, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return fail(err)
	}
	return b, nil
}

// open opens the folder out of which no path of a skill may lead: the project's, or its own
// one, wherever the user's links lead to it.
func (s *Skills) open(x placed, p *place, path string) (root *os.Root, name string, err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return nil, "", err
	}
	base := p.folder
	if x.Place.Scope == agent.ScopeUser {
		base = filepath.Dir(path)
	}
	if name, err = filepath.Rel(base, path); err == nil {
		root, err = os.OpenRoot(base)
	}
	return root, name, err
}

// File is skills.file.
func (s *Skills) File(ctx context.Context, in SkillFileRequest) (SkillFileReply, error) {
	x, p, err := s.find(ctx, in.ID)
	if err != nil {
		return SkillFileReply{}, err
	}
	if !slices.ContainsFunc(x.Files, func(f skill.File) bool { return f.Path == in.Path }) {
		return SkillFileReply{}, backend.Problem(backend.ProblemSkillFile, in.Path)
	}
	b, err := s.readFile(x, p, filepath.Join(x.Place.Folder, filepath.FromSlash(in.Path)), maxShown)
	if err != nil {
		return SkillFileReply{}, err
	}
	shown := text.Head(string(b), maxShown)
	if !utf8.ValidString(shown) || strings.ContainsRune(shown, 0) {
		return SkillFileReply{Binary: true}, nil
	}
	return SkillFileReply{Text: shown, Cut: len(b) > maxShown}, nil
}

// draft returns a skill with a text that is not saved: one that stands there, or a new one.
func (s *Skills) draft(ctx context.Context, id string, kind skill.SkillKind, name, content string) (x placed, p *place, now skill.Skill, err error) {
	if len(content) > skill.MaxFile {
		return x, p, now, tooLarge()
	}
	if id != "" {
		if x, p, err = s.find(ctx, id); err == nil {
			now = s.parsed(x, content)
		}
		return x, p, now, err
	}
	place := skill.Place{Kind: kind}
	if kind != skill.KindCommand {
		place.Kind, place.Folder, place.File = skill.KindSkill, name, mainFile
	}
	return x, p, skill.Parse(place, name, content, s.cfg.Known), nil
}

// Check is skills.check.
func (s *Skills) Check(ctx context.Context, in SkillCheckRequest) (SkillCheckReply, error) {
	_, _, now, err := s.draft(ctx, in.ID, in.Kind, in.Name, in.Text)
	if err != nil {
		return SkillCheckReply{}, err
	}
	return SkillCheckReply{s.checkText(now, in.Text)}, nil
}

// Try is skills.try.
func (s *Skills) Try(ctx context.Context, in SkillTryRequest) (SkillTryReply, error) {
	content := in.Text
	folder := s.cfg.Folder
	if content == "" {
		x, p, err := s.find(ctx, in.ID)
		if err != nil {
			return SkillTryReply{}, err
		}
		if content, err = s.content(x, p); err != nil {
			return SkillTryReply{}, err
		}
		if folder = p.folder; x.Place.Kind == skill.KindBuiltIn {
			return tried(x.Skill, in.Args, folder), nil
		}
	}
	_, _, now, err := s.draft(ctx, in.ID, skill.KindCommand, "", content)
	if err != nil {
		return SkillTryReply{}, err
	}
	return tried(now, in.Args, folder), nil
}

func tried(x skill.Skill, args, folder string) SkillTryReply {
	return SkillTryReply{Prompt: x.Expand(skill.Expansion{Args: args, Folder: folder}), Lines: x.Lines()}
}
