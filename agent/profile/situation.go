package profile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
)

// audience says who follows the session, and names the text about how to write
// for them; empty means the profile's own.
func (p *Profiles) audience() (sentence, voice string) {
	switch s := p.surroundings; {
	case s.Agent:
		return "Another agent started you for one task and waits for your report; nobody else reads what you write.", "agent-voice"
	case s.Unattended:
		return "Nobody watches this run, and nobody can answer a question: it was started with one prompt, and your last message is its result.", ""
	}
	return "The user sees each step as you take it.", ""
}

// asking says what to do if the project does not answer a question.
func (p *Profiles) asking() string {
	switch s := p.surroundings; {
	case s.Agent:
		return "Nobody can answer a question: decide what the task leaves open, and say so in your report."
	case s.Unattended:
		return "Nobody can answer a question: decide what the request leaves open, and say in the end what you decided."
	}
	return "Ask only when an answer would change what you do and the project cannot give it."
}

// permissions says what runs without asking, and what happens to other calls
// (K-12).
func (p *Profiles) permissions(mode agent.Mode) string {
	mode = cmp.Or(mode, agent.ModeDefault)
	consent := "waits until the user allows it"
	if p.surroundings.Unattended {
		consent = "is refused, because nobody can be asked"
	}
	text := fmt.Sprintf("Permission mode: %s. %s", mode, strings.ReplaceAll(modes[mode], "{consent}", consent))
	if p.surroundings.ReadOnly {
		text += " This run is read-only besides: no file can be written, and commands run where they cannot write, or not at all."
	}
	return text
}

var modes = map[agent.Mode]string{
	agent.ModeDefault: "Looking around inside the project runs at once. Any other call, such as an edit or a command that does more than read, {consent}.",
	agent.ModePlan: "The user wants a plan and no changes yet. Looking around inside the project runs at once; do not make calls that change anything, each of which {consent}. " +
		"Present the plan with the tool for it, or as your answer if you have none: what to change, file by file and in which order, how to check it, and what is open.",
	agent.ModeAcceptEdits: "Looking around and edits of files inside the project run at once. Any other call, such as a command that does more than read, {consent}.",
	agent.ModeAuto: "Looking around, edits of files inside the project and commands that the system confines run at once. What works elsewhere, runs unconfined " +
		"or destroys what cannot be undone {consent}.",
	agent.ModeDontAsk: "Looking around inside the project runs at once, and so does what the user's rules allow. Any other call is refused without asking: do what can be done that way, and say what could not.",
	agent.ModeBypass:  "Every call runs at once; nobody is asked about any. Take all the more care with what cannot be undone, and with anything outside the project.",
}

// documents are the instructions of a project and a user for agents.
type documents struct {
	memory  []project.Document // files that the user chose
	project []project.Document
	user    []project.Document // the document in Atelier's home folder and what it imports
}

func (d documents) all() []project.Document { return slices.Concat(d.memory, d.project, d.user) }

// own writes the user's own documents, which take precedence.
func (d documents) own() string {
	var b strings.Builder
	for _, doc := range d.user {
		if doc.Text != "" {
			b.WriteString("\n\n" + userDocument(doc))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "The user's own instructions. Where they differ from anything above, they hold." + b.String()
}

// documents reads the documents for the profile's models.
func (p *Profiles) documents(s shown, told agent.BriefingState) documents {
	d := documents{project: p.query(s, told).Documents(), user: project.User(p.surroundings.Home)}
	if p.surroundings.Memory == nil {
		return d
	}
	read := map[string]bool{}
	for _, other := range d.all() {
		read[other.Path] = true
	}
	memory := p.surroundings.Memory()
	memory.Folder = p.surroundings.Folder
	for _, one := range memory.Documents() {
		if !read[one.Path] {
			d.memory = append(d.memory, one)
		}
	}
	return d
}

// query asks for the project's documents for the profile's models, which were told these facts.
func (p *Profiles) query(s shown, told agent.BriefingState) project.Query {
	return project.Query{Folder: p.surroundings.Folder, Names: s.names(), Told: func(path string) bool { return told[aboutDocument+path] != "" }}
}

// The names of changeable facts that models are told. A document's name is
// aboutDocument and its path.
const (
	aboutMode     = "mode"
	aboutDate     = "date"
	aboutBranch   = agent.ToldBranch
	aboutConfined = "confinement"
	aboutDocument = "document "
	aboutNote     = "note "
)

// tell returns the changeable facts that a model is told.
func (p *Profiles) tell(mode agent.Mode, d documents) agent.BriefingState {
	told := agent.BriefingState{
		aboutMode:   string(cmp.Or(mode, agent.ModeDefault)),
		aboutDate:   p.surroundings.Now().Format(time.DateOnly),
		aboutBranch: project.Branch(p.surroundings.Folder),
	}
	if confined := p.surroundings.Confined(mode); confined != "" {
		told[aboutConfined] = confined
	}
	for _, d := range d.all() {
		told[aboutDocument+d.Path] = digest(d)
	}
	return told
}

// digest identifies a state of a document.
func digest(d project.Document) string {
	sum := sha256.Sum256([]byte(string(d.Problem) + d.Cause + "\x00" + d.Text))
	return hex.EncodeToString(sum[:8])
}

// change is a fact that may differ from what a model was told.
type change struct {
	about, now string
	text       string            // what to tell of it
	document   *project.Document // nil if the fact is not a document
	warning    agent.Warning     // for the user; its zero value is none
}

// renew writes what has changed since a model was told (K-45).
func (p *Profiles) renew(s shown, now agent.BriefingInput, told agent.BriefingState) agent.BriefingUpdate {
	update := agent.BriefingUpdate{Told: agent.BriefingState{}}
	var texts []string
	size := 0
	for _, c := range p.present(s, now, told) {
		if before, known := told[c.about]; known && before == c.now {
			continue
		}
		update.Told[c.about] = c.now
		if c.document != nil {
			d := *c.document
			if size+len(c.text) > maxUpdate {
				c.text, d.Told = fmt.Sprintf("Instructions of the project that did not fit here; read them before you work there: %s", quoted(d.Path)), 0
			}
			update.Documents = append(update.Documents, onRecord([]project.Document{d})...)
		}
		if c.warning.ID != "" {
			update.Warnings = append(update.Warnings, c.warning)
		}
		texts = append(texts, c.text)
		size += len(c.text)
	}
	if len(texts) > 0 {
		update.Text = agent.Reminder("This has changed since you were told, or is new where you work.\n\n" + strings.Join(texts, "\n\n"))
	}
	return update
}

// maxUpdate limits the documents of one update, in bytes.
const maxUpdate = 2 * project.MaxDocuments

// present returns the current state of every fact that a model was told or is
// to be told where it works. In the middle of a turn it checks only the mode
// and the documents of folders in which the model begins to work.
func (p *Profiles) present(s shown, now agent.BriefingInput, told agent.BriefingState) []change {
	mode := cmp.Or(now.Mode, agent.ModeDefault)
	all := []change{{about: aboutMode, now: string(mode), text: p.permissions(mode)}}
	worked := now.Worked
	if now.AtInput {
		date, branch := p.surroundings.Now().Format(time.DateOnly), project.Branch(p.surroundings.Folder)
		all = append(all,
			change{about: aboutDate, now: date, text: "Today's date: " + date},
			change{about: aboutBranch, now: branch, text: "Git branch: " + inLine(cmp.Or(branch, "none"))})
		if confined := p.surroundings.Confined(now.Mode); confined != told[aboutConfined] {
			all = append(all, change{about: aboutConfined, now: confined, text: cmp.Or(confined, "The system does not confine commands any more.")})
		}
		found := p.documents(s, told)
		for _, d := range found.memory {
			all = append(all, ofDocument(d, told, "Remembered about the project:", document))
		}
		for _, d := range found.project {
			all = append(all, ofDocument(d, told, "Instructions of the project:", document))
		}
		for _, d := range found.user {
			all = append(all, ofDocument(d, told, "The user's own instructions, which hold where they differ from others:", userDocument))
		}
		worked = append(slices.Clip(worked), p.foldersOf(s, told)...) // documents below the folder may have changed too
	}
	all = append(all, p.below(s, worked, told, all)...)
	all = append(all, p.notes(now, told)...)
	if now.AtInput {
		all = append(all, gone(all, told)...)
	}
	return all
}

// notes returns the notes for a model, and those that it was told and that are gone.
func (p *Profiles) notes(now agent.BriefingInput, told agent.BriefingState) []change {
	if p.surroundings.Growing == nil {
		return nil
	}
	notes := p.surroundings.Growing.Notes(now.Provider, now.Model)
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []change
	there := map[string]bool{}
	for _, n := range notes {
		about := aboutNote + n.About
		there[about], p.gone[about] = true, n.Gone
		all = append(all, change{about: about, now: n.Now, text: n.Text, warning: n.Warning})
	}
	for _, about := range slices.Sorted(maps.Keys(told)) {
		name, isNote := strings.CutPrefix(about, aboutNote)
		if isNote && !there[about] && told[about] != "" {
			text := cmp.Or(p.gone[about], fmt.Sprintf("What you were told about %s does not hold any more.", quoted(name)))
			all = append(all, change{about: about, text: text})
		}
	}
	return all
}

// early writes the notes that belong to the briefing, and adds them to what is told.
func (p *Profiles) early(now agent.BriefingInput, told agent.BriefingState) string {
	if p.surroundings.Growing == nil {
		return ""
	}
	var texts []string
	for _, n := range p.surroundings.Growing.Notes(now.Provider, now.Model) {
		if n.Early {
			told[aboutNote+n.About] = n.Now
			texts = append(texts, n.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// foldersOf returns the folders of the documents that a model was told, without those
// of documents that others import.
func (p *Profiles) foldersOf(s shown, told agent.BriefingState) []string {
	top := project.Root(p.surroundings.Folder)
	var folders []string
	for about := range told {
		path, ok := strings.CutPrefix(about, aboutDocument)
		if ok && filepath.IsLocal(path) && slices.ContainsFunc(s.names(), func(name string) bool { return strings.Contains("/"+path, "/"+name) }) {
			folders = append(folders, filepath.Join(top, filepath.Dir(path)))
		}
	}
	return folders
}

// below reads the documents of subfolders that lead to the given files and
// folders, and the rules for those, without the facts that are present already.
func (p *Profiles) below(s shown, worked []string, told agent.BriefingState, present []change) []change {
	var all []change
	seen := map[string]bool{}
	for _, c := range present {
		if c.document != nil {
			seen[c.document.Path] = true
		}
	}
	query := p.query(s, told)
	for _, path := range worked {
		if seen[path] {
			continue
		}
		seen[path] = true
		for _, d := range query.Below(path) {
			if !seen[d.Path] {
				seen[d.Path] = true
				all = append(all, ofDocument(d, told, "Instructions of the project for work in that folder; where they differ, they hold over those above it:", document))
			}
		}
	}
	return all
}

// ofDocument returns the state of a document.
func ofDocument(d project.Document, told agent.BriefingState, heading string, write func(project.Document) string) change {
	c := change{about: aboutDocument + d.Path, now: digest(d), text: heading + "\n\n" + write(d), document: &d}
	if d.Problem != "" {
		said := "was left out"
		if told[c.about] != "" {
			said = "holds no instructions any more"
		}
		c.text = fmt.Sprintf("%s %s: %s.", quoted(d.Path), said, inLine(leftOut(d).Problem))
	}
	return c
}

// gone returns documents that a model was told and that no longer exist.
func gone(present []change, told agent.BriefingState) []change {
	var out []change
	for _, about := range slices.Sorted(maps.Keys(told)) {
		path, ok := strings.CutPrefix(about, aboutDocument)
		if ok && !slices.ContainsFunc(present, func(c change) bool { return c.about == about }) {
			out = append(out, change{about: about, text: quoted(path) + " was removed: its instructions do not hold any more."})
		}
	}
	return out
}

// onRecord returns what the log keeps of documents.
func onRecord(documents []project.Document) []agent.Document {
	var out []agent.Document
	for _, d := range documents {
		if d.Problem != "" {
			out = append(out, leftOut(d))
			continue
		}
		out = append(out, agent.Document{Path: d.Path, Size: d.Size, Told: d.Told})
	}
	return out
}

// leftOut returns a document that was left out, with the reason in words.
func leftOut(d project.Document) agent.Document {
	var args []string
	if d.Cause != "" {
		args = []string{d.Cause}
	}
	return agent.DocumentLeftOut(d.Path, agent.DocumentProblemID(d.Problem), args...)
}
