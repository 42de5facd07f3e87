package skills

import (
	"context"
	"errors"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/trust"
)

// Config is what a Skills works with.
type Config struct {
	// Folder is the project and User the user's home folder, absolute and without links.
	Folder, User string
	Store        backend.Settings
	Trust        *trust.Trust
	// Changed is told of each change of the list. It must not block.
	Changed func()
}

// Skills keeps the skills and commands of one folder. It is safe for concurrent use.
type Skills struct{ cfg Config }

// New returns the skills of a folder.
func New(cfg Config) *Skills { return &Skills{cfg} }

var errUnbuilt = errors.New("this is not built yet")

// List is skills.list.
func (s *Skills) List(context.Context, SkillsRequest) (SkillsReply, error) { return SkillsReply{}, nil }

// Show is skills.show.
func (s *Skills) Show(context.Context, SkillRef) (SkillShown, error) { return SkillShown{}, errUnbuilt }

// File is skills.file.
func (s *Skills) File(context.Context, SkillFileRequest) (SkillFileReply, error) {
	return SkillFileReply{}, errUnbuilt
}

// Save is skills.save.
func (s *Skills) Save(context.Context, SkillSaveRequest) (SkillRef, error) {
	return SkillRef{}, errUnbuilt
}

// Remove is skills.remove. It moves the skill to the trash below Atelier's home folder.
func (s *Skills) Remove(context.Context, SkillRef) (backend.Empty, error) {
	return backend.Empty{}, errUnbuilt
}

// Check is skills.check.
func (s *Skills) Check(context.Context, SkillCheckRequest) (SkillCheckReply, error) {
	return SkillCheckReply{}, errUnbuilt
}

// Switch is skills.switch.
func (s *Skills) Switch(context.Context, SkillSwitchRequest) (backend.Empty, error) {
	return backend.Empty{}, errUnbuilt
}

// Reload is skills.reload.
func (s *Skills) Reload(context.Context, backend.Empty) (SkillsReply, error) {
	return SkillsReply{}, errUnbuilt
}

// Templates is skills.templates.
func (s *Skills) Templates(context.Context, backend.Empty) (SkillTemplatesReply, error) {
	return SkillTemplatesReply{}, errUnbuilt
}

// Try is skills.try.
func (s *Skills) Try(context.Context, SkillTryRequest) (SkillTryReply, error) {
	return SkillTryReply{}, errUnbuilt
}

// Inspect is skills.inspect.
func (s *Skills) Inspect(context.Context, SkillInstallRequest) (SkillInspectReply, error) {
	return SkillInspectReply{}, errUnbuilt
}

// Install is skills.install.
func (s *Skills) Install(context.Context, SkillInstallRequest) (SkillsReply, error) {
	return SkillsReply{}, errUnbuilt
}
