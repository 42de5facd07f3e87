package backend_test

import (
	"errors"
	"strings"
	"testing"

	"atelier.dev/atelier/backend"
)

func TestFontNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", backend.SystemFont, "Inter", "DejaVu Sans Mono", "思源黑体", "Source Code Pro", "M+ 1m", "3270-Regular_x.1", "A&B", "Ελληνικά", "हिन्दी",
		strings.Repeat("字", 100),
	} {
		if err := (backend.Fonts{Interface: backend.Font{Family: name}, Code: backend.Font{Family: name}}).Check(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		`x"; background: url(//evil)`, `x'`, `x", serif`, `x\`, `x\22 `, "x;", "x}", "{x", "x/*", "<x>", "url(x)", "var(--ink)", "x,y", "x!important",
		"x\n", "\x00", "\u2028", "\u202ex", "\u200b", "x\ufeff", "\xff", " x", "x ", "x  y", "x\ty", "\u00a0", "🙂",
		strings.Repeat("x", 101),
	} {
		for _, fonts := range []backend.Fonts{{Interface: backend.Font{Family: name}}, {Code: backend.Font{Family: name}}} {
			var e *backend.Error
			if err := fonts.Check(); !errors.As(err, &e) || e.ID != backend.ProblemFontName {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}

func TestFontSizes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		face, code int
		ok         bool
	}{
		{0, 0, true}, {11, 10, true}, {18, 20, true}, {13, 12, true},
		{10, 0, false}, {19, 0, false}, {-1, 0, false}, {0, 9, false}, {0, 21, false}, {0, -12, false}, {1 << 40, 1 << 40, false},
	} {
		err := backend.Fonts{Interface: backend.Font{Size: tt.face}, Code: backend.Font{Size: tt.code}}.Check()
		var e *backend.Error
		if (err == nil) != tt.ok || err != nil && (!errors.As(err, &e) || e.ID != backend.ProblemFontSize) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
