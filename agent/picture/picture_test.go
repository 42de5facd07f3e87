package picture_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/picture"
)

// noise is a picture that does not compress.
func noise(w, h int) image.Image {
	p := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White, color.RGBA{200, 30, 30, 255}, color.Transparent})
	random := rand.New(rand.NewPCG(1, 2))
	for i := range p.Pix {
		p.Pix[i] = uint8(random.IntN(4))
	}
	return p
}

func encoded(t testing.TB, kind string, p image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	switch kind {
	case "image/png":
		err = png.Encode(&out, p)
	case "image/jpeg":
		err = jpeg.Encode(&out, p, nil)
	case "image/gif":
		err = gif.Encode(&out, p, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// bomb returns the beginning of a picture that would fill the memory.
func bomb(t *testing.T) []byte {
	data := encoded(t, "image/png", noise(2, 2))
	header := data[12:29] // the type and content of the first chunk, then its sum
	binary.BigEndian.PutUint32(header[4:], 60_000)
	binary.BigEndian.PutUint32(header[8:], 60_000)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(header))
	return data
}

// LLM-22: a picture that fits stays unchanged, byte for byte; any other is made
// smaller and keeps its proportions.
func TestFit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind, want string
		w, h       int
		limits     llm.PictureLimits
		outW, outH int
	}{
		"fits":            {"image/png", "image/png", 300, 200, llm.PictureLimits{Bytes: 1 << 20, Edge: 1000}, 300, 200},
		"too wide":        {"image/png", "image/png", 300, 200, llm.PictureLimits{Bytes: 1 << 20, Edge: 150}, 150, 100},
		"too high":        {"image/gif", "image/png", 100, 400, llm.PictureLimits{Bytes: 1 << 20, Edge: 200}, 50, 200},
		"a thin line":     {"image/png", "image/png", 3000, 1, llm.PictureLimits{Bytes: 1 << 20, Edge: 1000}, 1000, 1},
		"too many bytes":  {"image/jpeg", "image/jpeg", 600, 300, llm.PictureLimits{Bytes: 20_000, Edge: 400}, 200, 100},
		"no limits":       {"image/png", "image/png", 3000, 100, llm.PictureLimits{}, 3000, 100},
		"only an edge":    {"image/png", "image/png", 300, 200, llm.PictureLimits{Bytes: 0, Edge: 150}, 150, 100},
		"only a size":     {"image/jpeg", "image/jpeg", 600, 300, llm.PictureLimits{Bytes: 200_000, Edge: 0}, 600, 300},
		"edge of a photo": {"image/jpeg", "image/jpeg", 2400, 12, llm.PictureLimits{Bytes: 5 << 20, Edge: 2100}, 2000, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := encoded(t, tt.kind, noise(tt.w, tt.h))
			got, kind, err := picture.Fit(data, tt.limits)
			if err != nil {
				t.Fatal(err)
			}
			config, _, err := image.DecodeConfig(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if config.Width != tt.outW || config.Height != tt.outH || kind != tt.want || picture.Type(got) != kind || tt.limits.Bytes > 0 && len(got) > tt.limits.Bytes {
				t.Errorf("%d×%d %s, %d bytes", config.Width, config.Height, kind, len(got))
			}
			if same := tt.w == tt.outW; same != bytes.Equal(got, data) {
				t.Errorf("bytes kept: %t", !same)
			}
			again, _, _ := picture.Fit(data, tt.limits)
			if !bytes.Equal(again, got) {
				t.Error("another picture the second time")
			}
		})
	}
}

func TestUnfit(t *testing.T) {
	t.Parallel()
	small := encoded(t, "image/png", noise(10, 10))
	roomy := llm.PictureLimits{Bytes: 1 << 20, Edge: 1000}
	for name, tt := range map[string]struct {
		data   []byte
		limits llm.PictureLimits
		want   error // nil for any
	}{
		"text":     {[]byte("<svg/>"), roomy, picture.ErrType},
		"nothing":  {nil, roomy, picture.ErrType},
		"a bitmap": {[]byte("BM0000000000"), roomy, picture.ErrType},
		"broken":   {small[:20], roomy, picture.ErrBroken},
		"half":     {small[:len(small)/2], llm.PictureLimits{Bytes: 1 << 20, Edge: 5}, picture.ErrBroken},
		"no room":  {encoded(t, "image/png", noise(500, 500)), llm.PictureLimits{Bytes: 100, Edge: 1000}, nil},
		"a bomb":   {bomb(t), llm.PictureLimits{Bytes: 1 << 20, Edge: 1000}, nil},
	} {
		if _, _, err := picture.Fit(tt.data, tt.limits); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(encoded(f, "image/png", noise(20, 10)))
	f.Add(encoded(f, "image/jpeg", noise(20, 10)))
	f.Add(encoded(f, "image/gif", noise(20, 10)))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "))
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := llm.PictureLimits{Bytes: 500, Edge: 16}
		got, kind, err := picture.Fit(data, limits)
		if err == nil && (len(got) > limits.Bytes || picture.Type(got) != kind) {
			t.Errorf("%d bytes of %s", len(got), kind)
		}
	})
}
