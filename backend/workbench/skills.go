package workbench

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/backend/overlap"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/skills"
)

// lineTime limits each command line of a skill, in milliseconds, maxLines their number.
const lineTime, maxLines = 30_000, 20

// newSkills returns the skills of the folder.
func (w *Workbench) newSkills() *skills.Skills {
	return skills.New(skills.Config{
		Folder: w.cfg.Folder, User: userHome(w.cfg), Home: w.cfg.Home, Store: w.cfg.Store, Trust: w.trust, FolderOf: w.folderOfSession,
		Changed: func() { w.feed.Publish(agent.Event{At: time.Now().UnixMilli(), Data: agent.SkillsChange{}}) },
	})
}

// growing is what models are offered that may change while a session runs: the tools of
// servers, and skills.
type growing struct {
	models.Offered
	skills  *skill.Offer
	overlap *overlap.Member
	agents  func() []agent.Note
}

// Notes implements [profile.Growing].
func (g growing) Notes(provider, model string) []agent.Note {
	return slices.Concat(g.Offered.Notes(provider, model), g.skills.Notes(), g.agents(), g.overlap.Notes())
}

// sessionSkills are the skills of one session. It implements [skill.Host].
type sessionSkills struct {
	skill.Library
	bench *Workbench
	info  backend.SessionInfo
}

func (w *Workbench) skillsOf(ctx context.Context, info backend.SessionInfo) sessionSkills {
	return sessionSkills{w.skills.Library(ctx, w.folderOf(info)), w, info}
}

// Begin implements [skill.Host]. The command lines of a skill that a model begins are not
// run: the model runs them itself, with calls that are decided about.
func (s sessionSkills) Begin(ctx context.Context, found skill.Skill, args string) (string, agent.SkillUse, error) {
	info, err := s.bench.session(ctx, s.info.ID)
	if err != nil {
		return "", agent.SkillUse{}, err
	}
	folder := s.bench.folderOf(info)
	if err := s.bench.skills.MayUse(ctx, found, folder); err != nil {
		return "", agent.SkillUse{}, err
	}
	s.bench.skills.Used(found.Name, time.Now())
	text := found.Expand(skill.Expansion{Args: args, Session: info.ID, Folder: folder})
	return text, s.bench.skillUse(ctx, info, found, args, false), nil
}

// skillUse returns what holds while a skill is in use. A model that the session's provider
// is not known to have leaves the session's own.
func (w *Workbench) skillUse(ctx context.Context, info backend.SessionInfo, s skill.Skill, args string, byUser bool) agent.SkillUse {
	use := s.Use(args, byUser)
	if s.Limits.Model != "" {
		if at, ok := w.providers.Named(ctx, info.Settings, s.Limits.Model); ok {
			use.Provider, use.Model = at.Provider, at.Model
		}
	}
	return use
}

// CommandOf reads a text as the call of a skill that a person may use; nil if it is none.
func (w *Workbench) CommandOf(ctx context.Context, info backend.SessionInfo, text string) *backend.CommandCall {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return nil
	}
	name, args := rest, ""
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	if s, ok := skill.Find(w.skillsOf(ctx, info), name); !ok || !s.Usage.ByUser {
		return nil
	}
	return &backend.CommandCall{Name: name, Arguments: args}
}

// input returns what a text begins: itself with the files that it mentions or, with a call,
// the prompt of a skill. The skill's own command lines are run for it, if nothing is against
// that.
func (w *Workbench) input(ctx context.Context, info backend.SessionInfo, text string, call *backend.CommandCall) (agent.Queued, error) {
	if call == nil {
		if err := w.conversation.CheckSlash(ctx, info, text); err != nil {
			return agent.Queued{}, err
		}
	}
	if call == nil && !strings.Contains(text, "@") {
		return agent.Queued{Text: text}, nil
	}
	l, release, err := w.sessions.Open(ctx, info.ID)
	if err != nil {
		return agent.Queued{}, err
	}
	info.Settings = l.Latest() // which hold before they are in the log
	release()
	folder := w.folderOf(info)
	mentions, err := w.attaching(ctx, info)
	if err != nil {
		return agent.Queued{}, err
	}
	if call == nil {
		input := agent.Queued{Text: text}
		attached, media := mentions.Attached(text)
		if attached != "" {
			input.Text, input.Typed, input.Media = text+attached, text, media
		}
		return input, nil
	}
	found, ok := skill.Find(w.skillsOf(ctx, info), call.Name)
	if !ok || !found.Usage.ByUser {
		return agent.Queued{}, backend.Problem(backend.ProblemCommandUnknown, call.Name)
	}
	if err := w.skills.MayUse(ctx, found, folder); err != nil {
		return agent.Queued{}, err
	}
	before := gathering{bench: w, info: info, folder: folder}
	ran, err := before.run(ctx, found, call.Arguments)
	if err != nil {
		return agent.Queued{}, err
	}
	w.skills.Used(found.Name, time.Now())
	use := w.skillUse(ctx, info, found, call.Arguments, true)
	prompt := found.Expand(skill.Expansion{Args: call.Arguments, Session: info.ID, Folder: folder, Ran: ran, Attach: mentions.Read})
	attached, media := mentions.Attached(call.Arguments)
	return agent.Queued{Text: prompt + attached, Typed: text, Skill: &use, Media: media}, nil
}

// gathering runs the command lines of a skill that a person began, before it is sent.
type gathering struct {
	bench  *Workbench
	info   backend.SessionInfo
	folder string
}

// run returns what the lines printed, in their order. A line that a rule denies, or about
// which a person is asked whatever they allowed before, keeps the skill from beginning.
func (g gathering) run(ctx context.Context, s skill.Skill, args string) ([]string, error) {
	lines := s.Lines()
	if len(lines) == 0 {
		return nil, nil
	}
	if len(lines) > maxLines {
		return nil, backend.Problem(backend.ProblemSkillLines, s.Name)
	}
	local, err := env.NewLocal(g.folder)
	if err != nil {
		return nil, err
	}
	local.Confine = g.bench.confinement.Of(g.info.ID, account(g.info), g.folder)
	var place env.Environment = local
	if g.bench.cfg.ReadOnly {
		place = env.ReadOnly(place)
	}
	if err := place.Initialize(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = place.Cleanup(context.WithoutCancel(ctx)) }()
	gate, err := g.bench.gate(g.info, g.bench.outputFolder(g.info.ID))
	if err != nil {
		return nil, err
	}
	bash := shellOf(tool.Builtin(place, tool.Options{}))
	inputs := make([]json.RawMessage, len(lines))
	outside := make([]bool, len(lines))
	for i, line := range lines { // all are judged before one is run
		input, err := json.Marshal(map[string]any{"command": skill.Script(line, args, s.Usage.Arguments), "timeout": lineTime})
		if err != nil {
			return nil, err
		}
		inputs[i] = input
		access := bash.(agent.Accessor).Access(ctx, input).In(g.info.Settings.Mode)
		outside[i] = access.Confinement == ""
		verdict := gate.Decide(ctx, agent.GateCall{Tool: "Bash", Input: input, Access: access, Mode: g.info.Settings.Mode})
		if verdict.Decision == agent.Deny || verdict.Decision == agent.Ask && (verdict.Final || verdict.Rule != nil) {
			return nil, backend.Problem(backend.ProblemSkillLineDenied, line, verdict.Reason)
		}
	}
	ran := make([]string, len(lines))
	for i, input := range inputs {
		result := bash.Run(ctx, agent.Invocation{CallID: "skill", Input: input, Output: func(string) {}, Unconfined: outside[i]})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ran[i] = tool.Truncate("Bash", result.Output, 0)
	}
	return ran, nil
}

// shellOf returns the shell among tools.
func shellOf(tools []agent.Tool) agent.Tool {
	for _, t := range tools {
		if t.Spec().Name == "Bash" {
			return t
		}
	}
	panic("workbench: there is no shell") // a mistake in package tool
}

// commands is commands.list: the prompts of servers, and the skills that a person may use.
func (w *Workbench) commands(ctx context.Context, in mcp.ServersRequest) (backend.CommandsReply, error) {
	var info backend.SessionInfo
	if in.Session != "" {
		var err error
		if info, err = w.session(ctx, in.Session); err != nil {
			return backend.CommandsReply{}, err
		}
	}
	var reply backend.CommandsReply
	var sound, unsound []backend.SlashCommand
	for _, s := range w.skillsOf(ctx, info).Skills() {
		if !s.Usage.ByUser {
			continue
		}
		list := &sound
		if !skills.IsWellNamed(s) {
			list = &unsound
		}
		*list = append(*list, backend.SlashCommand{
			Name: s.Name, Kind: backend.CommandSkill, Description: s.Description, Source: w.shownFile(s.Place.File),
			Aliases: s.Aliases, Hint: s.Usage.Hint,
		})
	}
	// One whose name needs mending is not the first that is offered.
	reply.Commands = slices.Concat(sound, unsound)
	prompts, err := w.servers.Commands(ctx, in)
	reply.Commands = append(reply.Commands, prompts.Commands...)
	return reply, err
}

// shownFile shortens a path to what tells it from others: below the project, or the home
// folder.
func (w *Workbench) shownFile(path string) string {
	if rel, err := filepath.Rel(w.cfg.Folder, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if rel, err := filepath.Rel(userHome(w.cfg), path); err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// TrustSkills trusts the skills that stand there until the program ends, and returns
// how many they are.
func (w *Workbench) TrustSkills(ctx context.Context) (int, error) { return w.skills.TrustForRun(ctx) }
