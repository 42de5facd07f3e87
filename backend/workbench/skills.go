package workbench

import (
	"context"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/skills"
)

// newSkills returns the skills of the folder.
func (w *Workbench) newSkills() *skills.Skills {
	return skills.New(skills.Config{
		Folder: w.cfg.Folder, User: userHome(w.cfg), Home: w.cfg.Home, Store: w.cfg.Store, Trust: w.trust, FolderOf: w.folderOfSession,
		Changed: func() { w.feed.Publish(agent.Event{At: time.Now().UnixMilli(), Data: agent.SkillsChange{}}) },
	})
}

// skillMethods registers the methods of skills.
func (w *Workbench) skillMethods(d *Dispatcher) {
	handle(d, "skills.list", w.skills.List)
	handle(d, "skills.show", w.skills.Show)
	handle(d, "skills.file", w.skills.File)
	handle(d, "skills.save", w.skills.Save)
	handle(d, "skills.remove", w.skills.Remove)
	handle(d, "skills.check", w.skills.Check)
	handle(d, "skills.switch", w.skills.Switch)
	handle(d, "skills.reload", w.skills.Reload)
	handle(d, "skills.templates", w.skills.Templates)
	handle(d, "skills.try", w.skills.Try)
	handle(d, "skills.inspect", w.skills.Inspect)
	handle(d, "skills.install", w.skills.Install)
}

// TrustSkills trusts the skills that stand there until the program ends, and returns
// how many they are.
func (w *Workbench) TrustSkills(ctx context.Context) (int, error) { return w.skills.TrustForRun(ctx) }
