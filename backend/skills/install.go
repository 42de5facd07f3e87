package skills

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// maxParcels limits how many skills are installed from one place.
const maxParcels = 100

// maxText limits the text of a file that is shown before it is installed, and maxTexts that
// of all of them.
const maxText, maxTexts = 64 << 10, 4 << 20

// parcel is one skill of a folder or archive.
type parcel struct {
	name  string
	files []packed // the main file under its proper name
	skill.Skill
	text string
}

// parcels reads the skills of a folder or archive.
func (s *Skills) parcels(ctx context.Context, from string) ([]parcel, error) {
	files, err := unpack(ctx, from)
	if err != nil {
		return nil, err
	}
	refuse := func(name, why string) error {
		return backend.Problem(backend.ProblemParcelEntry, from, name+": "+why)
	}
	var out []parcel
	for _, dir := range mains(files) {
		x, err := s.parcel(within(files, dir), path.Base(dir), from)
		switch {
		case err != nil:
			return nil, err
		case !isCallable(x.name):
			return nil, refuse(dir, "its name cannot be that of a skill")
		case slices.ContainsFunc(out, func(o parcel) bool { return strings.EqualFold(o.name, x.name) }):
			return nil, refuse(dir, "another skill has its name")
		case len(out) == maxParcels:
			return nil, refuse(dir, "there are more than "+strconv.Itoa(maxParcels)+" skills")
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil, backend.Problem(backend.ProblemParcelEmpty, from)
	}
	return out, nil
}

// parcel returns the skill with these files. One that is not in a folder of its own has the
// name that it gives itself, or that of the archive.
func (s *Skills) parcel(files []packed, name, from string) (parcel, error) {
	x := parcel{name: name, files: files}
	main := slices.IndexFunc(files, func(f packed) bool { return strings.EqualFold(f.path, mainFile) })
	files[main].path = mainFile
	if len(files[main].data) > skill.MaxFile {
		return x, tooLarge()
	}
	x.text = strings.ToValidUTF8(string(files[main].data), "�")
	if name == "." {
		x.name = stem(from)
		if label := skill.Parse(skill.Place{}, "", x.text, s.cfg.Known).Label; isCallable(label) {
			x.name = label
		}
	}
	place := skill.Place{Kind: skill.KindSkill, Folder: x.name, File: path.Join(x.name, mainFile)}
	x.Skill = skill.Parse(place, x.name, x.text, s.cfg.Known)
	for _, f := range files {
		if f.path != mainFile {
			x.Files = append(x.Files, skill.File{Path: f.path, Size: int64(len(f.data)), Runs: f.runs()})
		}
	}
	return x, nil
}

// runs reports whether a file can be run, as [skill.File] says it.
func (f packed) runs() bool {
	return f.exec || bytes.HasPrefix(f.data, []byte("#!")) || slices.Contains(strings.Split(f.path, "/"), "scripts")
}

// seal stands for what would be installed, where.
func seal(in SkillInstallRequest, parcels []parcel) string {
	type file struct {
		Path, Sum string
		Exec      bool
	}
	all := map[string][]file{}
	for _, x := range parcels {
		for _, f := range x.files {
			sum := sha256.Sum256(f.data)
			all[x.name] = append(all[x.name], file{f.path, hex.EncodeToString(sum[:]), f.exec})
		}
	}
	b, err := json.Marshal(struct {
		From  string
		Scope agent.Scope
		All   map[string][]file
	}{in.Path, in.Scope, all})
	if err != nil {
		panic(err) // they are texts
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Inspect is skills.inspect.
func (s *Skills) Inspect(ctx context.Context, in SkillInstallRequest) (SkillInspectReply, error) {
	shelf, err := s.shelf(in.Scope, skill.KindSkill)
	if err != nil {
		return SkillInspectReply{}, err
	}
	defer shelf.Close()
	parcels, err := s.parcels(ctx, in.Path)
	if err != nil {
		return SkillInspectReply{}, err
	}
	reply := SkillInspectReply{Seal: seal(in, parcels)}
	left := maxTexts
	for _, x := range parcels {
		shown := SkillParcel{
			Name: x.name, Description: x.Summary(), Text: x.text, Findings: s.checkText(x.Skill, x.text), Lines: x.Lines(), Taken: shelf.has(x.name),
		}
		if shown.Taken {
			shown.Same, shown.Difference = x.instead(ctx, filepath.Join(shelf.path, x.name))
		}
		for _, f := range x.files {
			if f.path == mainFile {
				continue
			}
			file := SkillFile{Path: f.path, Size: int64(len(f.data)), Runs: f.runs()}
			if file.Runs && len(f.data) <= left && isShown(f.data) {
				file.Text = string(f.data)
				left -= len(f.data)
			}
			shown.Files = append(shown.Files, file)
		}
		reply.Skills = append(reply.Skills, shown)
	}
	return reply, nil
}

// Install is skills.install. It writes exactly what the seal stands for.
func (s *Skills) Install(ctx context.Context, in SkillInstallRequest) (SkillsReply, error) {
	parcels, err := s.parcels(ctx, in.Path)
	if err != nil {
		return SkillsReply{}, err
	}
	if in.Seal != seal(in, parcels) {
		return SkillsReply{}, backend.Problem(backend.ProblemParcelChanged, in.Path)
	}
	parcels = slices.DeleteFunc(parcels, func(x parcel) bool { return !slices.Contains(in.Names, x.name) })
	if len(parcels) == 0 {
		return SkillsReply{}, backend.Problem(backend.ProblemParcelEmpty, in.Path)
	}
	if err := s.place(parcels, in); err != nil {
		return SkillsReply{}, err
	}
	if err := s.again(); err != nil {
		return SkillsReply{}, err
	}
	return s.List(ctx, SkillsRequest{})
}

// place writes skills: all of them beside where they belong, and then each is moved there.
func (s *Skills) place(parcels []parcel, in SkillInstallRequest) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	shelf, err := s.shelf(in.Scope, skill.KindSkill)
	if err != nil {
		return err
	}
	defer shelf.Close()
	for _, x := range parcels {
		if shelf.has(x.name) && !in.Replace {
			return backend.Problem(backend.ProblemSkillTaken, s.shown(filepath.Join(shelf.path, x.name), in.Scope, s.cfg.Folder))
		}
	}
	staging := filepath.Join(shelf.below, ".install-"+strconv.Itoa(os.Getpid()))
	fail := func(err error) error {
		return backend.Problem(backend.ProblemSkillUnwritten, s.shown(shelf.path, in.Scope, s.cfg.Folder)).Because(err)
	}
	_ = shelf.RemoveAll(staging)   // one that a crash left
	defer shelf.RemoveAll(staging) //nolint:errcheck // what was installed has been moved
	for _, x := range parcels {
		for _, f := range x.files {
			mode := fs.FileMode(0o644)
			if f.exec {
				mode = 0o755
			}
			at := filepath.Join(staging, x.name, filepath.FromSlash(f.path))
			if err := shelf.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				return fail(err)
			}
			if err := write(shelf.Root, at, f.data, mode); err != nil {
				return fail(err)
			}
		}
	}
	for _, x := range parcels {
		if err := s.makeRoom(shelf, x.name); err != nil {
			return fail(err)
		}
		if err := shelf.Rename(filepath.Join(staging, x.name), filepath.Join(shelf.below, x.name)); err != nil {
			return fail(err)
		}
	}
	return nil
}

// makeRoom moves what has a name, in whatever case, to the trash.
func (s *Skills) makeRoom(to *shelf, name string) error {
	dir, err := to.Open(to.below)
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close()
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(to.path)
	if err != nil {
		return err
	}
	for _, n := range names {
		if strings.EqualFold(n, name) {
			if err := s.toTrash(filepath.Join(real, n)); err != nil {
				return err
			}
		}
	}
	return nil
}
