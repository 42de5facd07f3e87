// The functions of window_linux.go that are written in C.
#ifndef ATELIER_WINDOW_LINUX_H
#define ATELIER_WINDOW_LINUX_H

// Call it before the window's engine starts.
void atelier_without_gl(void);

// Each of these may be called from any thread and runs on the window's thread.
void atelier_guard(void);
void atelier_move(int x, int y);
void atelier_zoom(int percent);
void atelier_present(void);

#endif
