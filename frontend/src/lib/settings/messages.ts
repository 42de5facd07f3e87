import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    contrast: 'High contrast',
    contrast_hint: 'Text and lines stand out more, in the light and in the dark theme.',
    notices: 'Notifications',
    notices_on: 'Notify on the desktop',
    notices_hint:
      'Only while this window is not in front, and only for what lasts three seconds. A notification has the session’s title and nothing else of it.',
    notices_waiting: 'When a session needs you',
    notices_done: 'When a session is done',
    notices_failed: 'When a session fails',
    notices_ask: 'This browser has not been asked yet whether Atelier may show notifications.',
    notices_allow: 'Ask the browser…',
    notices_denied:
      'This browser blocks notifications of this page. Allow them in the browser’s settings for this page.',
    notices_absent: 'This browser shows no notifications. The page’s title still says what waits.',
  },
  'zh-CN': {
    contrast: '高对比度',
    contrast_hint: '在浅色和深色主题下，文字和线条都更加清晰。',
    notices: '通知',
    notices_on: '在桌面上通知',
    notices_hint:
      '仅在此窗口不在最前、且状态持续三秒以上时通知。通知只包含会话的标题，不含会话的其他内容。',
    notices_waiting: '会话等你决定时',
    notices_done: '会话完成时',
    notices_failed: '会话失败时',
    notices_ask: '尚未询问此浏览器是否允许 Atelier 显示通知。',
    notices_allow: '询问浏览器…',
    notices_denied: '此浏览器阻止了本页面的通知。请在浏览器针对本页面的设置中允许。',
    notices_absent: '此浏览器不显示通知。页面标题仍会说明有什么在等你。',
  },
} as const

export const own = translator(messages)
