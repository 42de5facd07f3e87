package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/internal/archive"
)

type entry struct {
	name, content, link string
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		f, err := w.Create(e.name)
		if err == nil {
			_, err = io.WriteString(f, e.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Size: int64(len(e.content)), Mode: 0o644, Linkname: e.link}
		if e.link != "" {
			h.Typeflag = tar.TypeSymlink
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = io.WriteString(w, e.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestList(t *testing.T) {
	t.Parallel()
	some := []entry{{"dir/", "", ""}, {"dir/a.txt", "hello", ""}, {"../evil\n\x1b[31m", "x", ""}}
	links := append(some, entry{"l", "", "/etc/passwd"})
	damaged := tarred(t, some...)
	damaged[600] ^= 0xff
	for name, tt := range map[string]struct {
		data []byte
		want []string
	}{
		"zip":        {zipped(t, some...), []string{"A zip archive of 3 entries, 6 bytes", "           5  dir/a.txt\n", "../evil"}},
		"no entries": {zipped(t), []string{"A zip archive of 0 entries"}},
		"one entry":  {zipped(t, some[1]), []string{"of 1 entry, 5 bytes"}},
		"tar":        {tarred(t, links...), []string{"A tar archive of 4 entries", "l -> /etc/passwd\n"}},
		"tar.gz":     {gzipped(t, tarred(t, some...)), []string{"A tar.gz archive of 3 entries"}},
		"damaged":    {gzipped(t, damaged), []string{"of 1 entry", "[Not listed to its end: the rest is damaged.]"}},
	} {
		list, err := archive.List(t.Context(), tt.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(list.String(), want) {
				t.Errorf("%s: %s", name, list)
			}
		}
		if strings.ContainsAny(list.String(), "\x1b\r\x00") {
			t.Errorf("%s: control characters in %q", name, list)
		}
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "a text": []byte("hello"), "a gzipped text": gzipped(t, bytes.Repeat([]byte("x"), 2000)), "half a gzip": []byte("\x1f\x8b\x08"),
	} {
		if _, err := archive.List(t.Context(), data); !errors.Is(err, archive.ErrOther) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := archive.List(t.Context(), zipped(t, some...)[:60]); err == nil {
		t.Error("half a zip is listed")
	}
}

// What unpacks to gigabytes, has too many entries or a name without end is listed as far as the
// limits go, and no further.
func TestBombs(t *testing.T) {
	t.Parallel()
	var many []entry
	for i := range 700 {
		many = append(many, entry{fmt.Sprintf("%s%d", strings.Repeat("n", 1000), i), "", ""})
	}
	list, err := archive.List(t.Context(), tarred(t, many...))
	if err != nil || list.Count != 700 || len(list.String()) > 500*400 || !strings.Contains(list.String(), "[200 more are not shown.]") {
		t.Errorf("%d entries, %d characters, %v", list.Count, len(list.String()), err)
	}
	// Ten MB of zeros, of which four are unpacked, and an entry behind them.
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	if err := w.WriteHeader(&tar.Header{Name: "zeros", Size: 10 << 20}); err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 10 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.WriteHeader(&tar.Header{Name: "hidden"}), w.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	list, err = archive.ListWithin(t.Context(), out.Bytes(), 4<<20)
	if err != nil || list.Count != 1 || !strings.Contains(list.Cut, "the first 4 MB") {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := archive.List(t.Context(), append([]byte("PK\x03\x04"), bytes.Repeat([]byte("PK\x01\x02"), 100_001)...)); err == nil || !strings.Contains(err.Error(), "more than 100000 entries") {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := archive.List(ended, out.Bytes()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func FuzzList(f *testing.F) {
	f.Add(zipped(f, entry{"a", "b", ""}))
	f.Add(tarred(f, entry{"a", "b", ""}, entry{"c", "", "d"}))
	f.Add(gzipped(f, tarred(f, entry{"a", "b", ""})))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := archive.List(t.Context(), data)
		if err == nil && len(list.String()) > 1<<20 {
			t.Errorf("%d characters", len(list.String()))
		}
	})
}
