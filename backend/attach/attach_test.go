package attach

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/tiff"

	"atelier.dev/atelier/agent/mention"
	"atelier.dev/atelier/backend/dispatch"
)

// call calls a method as the page does.
func call[Out any](t *testing.T, f *Folder, method string, in any) (out Out, err error) {
	t.Helper()
	d := &dispatch.Dispatcher{}
	f.Register(d)
	args, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		OK    *Out
		Error *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(d.Call(t.Context(), method, string(args))), &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Error != nil {
		return out, errors.New(reply.Error.Message)
	}
	return *reply.OK, nil
}

func grey(t *testing.T, edge int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, edge, edge))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Whatever a file is called, its copy has a name that is harmless and that says what it is.
func TestNames(t *testing.T) {
	t.Parallel()
	f := New(t.TempDir(), "/p", nil)
	picture := grey(t, 1)
	for name, want := range map[string]string{
		"shot.png": "shot-HASH.png", "": "pasted-HASH.png", "../../etc/passwd": "passwd-HASH.png", "a b\"c\n.PNG": "a-b-c-HASH.png",
		"图片.jpg": "图片-HASH.png", "...": "pasted-HASH.png", "-rf": "rf-HASH.png", strings.Repeat("é", 500) + ".png": strings.Repeat("é", 30) + "-HASH.png",
	} {
		got, err := call[Attached](t, f, "attach.add", AttachRequest{Name: name, Data: picture})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(filepath.Join(f.Dir(), strings.Replace(want, "HASH", hash(picture), 1)), got.Path); d != "" {
			t.Errorf("%q: %s", name, d)
		}
		if info, err := os.Stat(got.Path); err != nil || got.Kind != KindPicture || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", name, info, err)
		}
	}
	got, err := call[Attached](t, f, "attach.add", AttachRequest{Name: "table.csv", Data: []byte("a,b")})
	if err != nil || got.Kind != KindText || filepath.Base(got.Path) != "table-"+hash([]byte("a,b"))+".csv" || got.Mention != "@"+got.Path {
		t.Errorf("a table: %v, %v", got, err)
	}
}

func TestAddRefusesLarge(t *testing.T) {
	t.Parallel()
	f := New(t.TempDir(), "/p", nil)
	_, err := call[Attached](t, f, "attach.add", AttachRequest{Name: "disk.img", Data: make([]byte, maxFile+1)})
	if err == nil || !strings.Contains(err.Error(), "disk.img is larger than 5 MB") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(f.Dir()); len(left) != 0 {
		t.Errorf("%v is kept", left)
	}
}

// Only pictures of this folder are shown.
func TestReadShowsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f := New(home, "/p", nil)
	mine, err := call[Attached](t, f, "attach.add", AttachRequest{Name: "a.png", Data: grey(t, 2)})
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "other.png")
	if err := os.WriteFile(other, grey(t, 2), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, shown := range map[string]bool{
		mine.Path: true, other: false, f.Dir() + "/../../other.png": false, f.Dir(): false, "": false, filepath.Join(f.Dir(), "gone.png"): false,
	} {
		got, err := call[AttachedFile](t, f, "attach.read", AttachedRequest{Path: path})
		if err != nil || (got.Picture != nil) != shown || got.Text != "" {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

// Old files go when a new one comes; the same file is kept once.
func TestOldFilesGo(t *testing.T) {
	t.Parallel()
	now := time.Now()
	f := New(t.TempDir(), "/p", func() time.Time { return now })
	add := func(name string) {
		if _, err := call[Attached](t, f, "attach.add", AttachRequest{Name: name, Data: []byte(name)}); err != nil {
			t.Fatal(err)
		}
	}
	count := func() int {
		entries, err := os.ReadDir(f.Dir())
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for i := range 5 {
		add(fmt.Sprintf("%d.txt", i))
	}
	add("4.txt")
	if n := count(); n != 5 {
		t.Errorf("%d files", n)
	}
	now = now.Add(maxAge - time.Hour)
	if add("new.txt"); count() != 6 {
		t.Errorf("%d files before they are old", count())
	}
	now = now.Add(2 * time.Hour)
	if add("newer.txt"); count() != 1 { // of real time, all were written now
		t.Errorf("%d files after a month", count())
	}
}

// What a message mentions is a text, a picture that is small enough, or a word about it.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wide bytes.Buffer
	if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 2100, 3))); err != nil {
		t.Fatal(err)
	}
	broken := append(bytes.Clone(grey(t, 10)[:20]), 1, 2, 3)
	var scan bytes.Buffer
	if err := tiff.Encode(&scan, image.NewGray(image.Rect(0, 0, 7, 7)), nil); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"scan.tiff": scan.Bytes(), "photo.heic": []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), "text.md": []byte("\ufeffhello"), "small.png": grey(t, 5), "wide.png": wide.Bytes(), "broken.png": broken, "bin": {0, 1, 2, 0xff}, "lies.txt": grey(t, 3),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"scan.tiff": "image/png 7", "photo.heic": "[This picture is left out: HEIC cannot be shown to models.", "text.md": "hello", "bin": leftOut, "small.png": "image/png 5", "wide.png": "image/png 2000", "lies.txt": "image/png 3",
		"broken.png": "[This picture is left out: it is a broken picture",
	} {
		file, ok := Read(filepath.Join(dir, name))
		got := file.Text
		if file.Picture != nil {
			config, _, err := image.DecodeConfig(bytes.NewReader(file.Picture.Data))
			if err != nil {
				t.Fatal(err)
			}
			got = fmt.Sprint(file.Picture.MIME, " ", config.Width)
		}
		if !ok || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "gone", "."} {
		if _, ok := Read(filepath.Join(dir, name)); ok {
			t.Errorf("%q is read", name)
		}
	}
}

// OC-07: only a message of a person may mention something besides files. A skill, which a project brings
// along, cannot.
func TestOnlyMessagesMentionOthers(t *testing.T) {
	t.Parallel()
	read := func(path string) (mention.File, bool) { return mention.File{Text: "a file"}, path == "app.go" }
	m := Mentions{Read: read}.And(func(name string) (mention.File, bool) {
		return mention.File{About: "A session", Text: "was said"}, name == "session:a"
	})
	if got, _ := m.Attached("see @session:a and @app.go"); got != "\n\nA session:\n\n```\nwas said\n```\n\nThe file app.go:\n\n```\na file\n```" {
		t.Errorf("a message attaches %q", got)
	}
	if _, ok := m.Read("session:a"); ok {
		t.Error("a skill may read a session")
	}
}
