package delegation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/subagent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/internal/text"
)

// maxTask limits what is kept of a task for lists, in bytes.
const maxTask = 2 << 10

// create makes an agent's session and starts it on its task.
func (c *Crew) create(ctx context.Context, id string, def agentdef.Definition, task subagent.Task) error {
	cfg := &c.d.cfg
	parent, err := cfg.Store.Session(ctx, c.self)
	if err != nil {
		return err
	}
	if l := cfg.Sessions().Find(c.self); l != nil {
		parent.Settings = l.Latest() // which hold before they are in the log
	}
	if err := cfg.Teams.NameIsFree(ctx, c.root, task.Name); err != nil {
		return err
	}
	if err := cfg.Teams.Join(ctx, c.root, task.Team, task.Name); err != nil {
		return err
	}
	set, err := c.settings(ctx, parent.Settings, def, task)
	if err != nil {
		return err
	}
	input, err := cfg.Host.Skills(ctx, parent, task.Text, slices.Concat(def.Skills, task.Skills))
	if err != nil {
		return err
	}
	helper, err := c.helper(ctx, parent, id, def, task)
	if err != nil {
		return err
	}
	if err := c.admitTree(ctx, id, helper); err != nil {
		return err
	}
	_, err = cfg.Host.Create(ctx, id, set, helper)
	if err == nil {
		c.tree.setStarter(id, c.self)
		err = cfg.Teams.Collect(ctx, c.root, task.Name, id)
	}
	if err == nil {
		c.tree.stagger(ctx, id, alike(set, def, helper), time.Now())
		err = cfg.Host.Start(ctx, id, live.Input(input))
	}
	if err != nil {
		return errors.Join(err, c.withdraw(context.WithoutCancel(ctx), backend.SessionInfo{ID: id, Helper: helper}))
	}
	return nil
}

// withdraw removes an agent that could not be started: its session, as far as it is stored, and
// its worktree.
func (c *Crew) withdraw(ctx context.Context, info backend.SessionInfo) error {
	_, closing := c.d.cfg.Sessions().CloseAtRest(ctx, []string{info.ID})
	deleting := c.d.cfg.Store.DeleteSessions(ctx, info.ID)
	if deleting != nil && backend.AsError(deleting).Code == backend.CodeNotFound {
		deleting = nil
	}
	_, removing := c.removeTree(ctx, info)
	return errors.Join(closing, deleting, removing)
}

// alike names agents whose first requests begin with the same instructions and tools.
func alike(set agent.Settings, def agentdef.Definition, helper *agent.Helper) string {
	return strings.Join([]string{set.Provider, set.Model, string(set.Mode), def.Name, helper.Folder, fmt.Sprint(helper.Depth)}, "\x00")
}

// helper returns what an agent is given, with the folder where it works.
func (c *Crew) helper(ctx context.Context, parent backend.SessionInfo, id string, def agentdef.Definition, task subagent.Task) (*agent.Helper, error) {
	folder, err := workingDir(c.d.cfg.Project.Folder(parent), task.WorkingDir)
	if err != nil {
		return nil, err
	}
	helper := &agent.Helper{
		Parent: c.root, Depth: c.depth + 1, Folder: folder, Rounds: cmp.Or(max(0, task.MaxTurns), def.Rounds, subagent.DefaultMaxTurns),
		Task: text.Head(task.Text, maxTask), Call: task.Call, Label: text.Head(task.Label, maxTask), Type: def.Name, Name: task.Name,
		Defined: agent.Defined{Scope: def.Place.Scope, File: def.Place.File, Hooks: def.Hooks, Color: def.Start.Color},
	}
	if c.self != c.root {
		helper.By = c.self
		helper.Skills = slices.Clone(parent.Helper.Skills) // whose limits hold for everything below it
	}
	helper.Skills = append(append(helper.Skills, limiting(parent.Skills)...), limitOf(def, task.Servers)...)
	isolation := task.Isolation
	if def.Start.Worktree {
		isolation = cmp.Or(isolation, subagent.Worktree)
	}
	switch isolation {
	case "":
		return helper, nil
	case subagent.Worktree:
		return helper, c.isolate(ctx, parent, id, helper)
	}
	return nil, fmt.Errorf("there is no isolation %q, only %q", isolation, subagent.Worktree)
}

// settings returns the parent's settings, including the shared budget, with the
// task's model: one of a level (COM-51), or another of the same provider, else that of the agent's
// definition. The user chose no other provider. The mode is never looser than the parent's
// (OAS-506). The agents of a caller begin with what the user chose for new sessions, but in the
// caller's mode.
func (c *Crew) settings(ctx context.Context, set agent.Settings, def agentdef.Definition, task subagent.Task) (agent.Settings, error) {
	mode := set.Mode
	if set.Provider == c.d.cfg.Caller {
		var err error
		if set, err = c.d.cfg.Host.NewSettings(ctx); err != nil {
			return set, err
		}
	}
	set.Mode = agentdef.Tighter(agentdef.Tighter(cmp.Or(mode, agent.ModeDefault), def.Mode), task.Mode)
	set.Effort = cmp.Or(def.Effort, set.Effort)
	model := strings.TrimPrefix(strings.TrimSpace(task.Model), set.Provider+"/")
	level := catalogue.Level(model)
	if at, ok := c.d.cfg.Models.Named(ctx, set, cmp.Or(model, def.Model)); ok && level != catalogue.LevelLow && level != catalogue.LevelMid && level != catalogue.LevelHigh {
		set.Provider, set.Model = at.Provider, at.Model
		return set, nil
	}
	switch level {
	case "":
	case catalogue.LevelLow, catalogue.LevelMid, catalogue.LevelHigh:
		at := c.d.cfg.Models.AtLevel(ctx, set, level)
		set.Provider, set.Model = at.Provider, at.Model
	default:
		set.Model = model
	}
	return set, nil
}

// workingDir resolves a folder of the project, given as an absolute or relative
// path. A folder outside, even through a link, is refused.
func workingDir(project, dir string) (string, error) {
	abs := dir
	if !filepath.IsAbs(dir) {
		abs = filepath.Join(project, dir)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("there is no folder %s", dir)
	}
	if rel, err := filepath.Rel(project, real); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s lies outside the project", dir)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", dir)
	}
	return real, nil
}

// limiting returns the skills that keep tools from being called. An agent keeps to
// them: it would otherwise do for a model what the skill refuses it.
func limiting(skills []agent.SkillUse) (out []agent.SkillUse) {
	for _, use := range skills {
		if use.Limits() {
			use.Provider, use.Model, use.Effort = "", "", ""
			out = append(out, use)
		}
	}
	return out
}

// limitOf returns the limits of an agent's definition, together with the tools of more servers.
func limitOf(def agentdef.Definition, servers []string) []agent.SkillUse {
	limit := def.Limit()
	if limit == nil {
		return nil
	}
	for _, name := range servers {
		if limit.Limited && !strings.ContainsAny(name, "*(),") {
			limit.Tools = append(limit.Tools, "mcp__"+name)
		}
	}
	return []agent.SkillUse{*limit}
}
