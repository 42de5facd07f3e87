/** The pages on which the providers issue keys. */
const pages: Readonly<Record<string, string>> = {
  openai: 'https://platform.openai.com/api-keys',
  anthropic: 'https://console.anthropic.com/settings/keys',
  gemini: 'https://aistudio.google.com/apikey',
  openrouter: 'https://openrouter.ai/settings/keys',
  deepseek: 'https://platform.deepseek.com/api_keys',
  glm: 'https://open.bigmodel.cn/usercenter/apikeys',
  zai: 'https://z.ai/manage-apikey/apikey-list',
  groq: 'https://console.groq.com/keys',
  xai: 'https://console.x.ai',
  mistral: 'https://console.mistral.ai/api-keys',
  moonshot: 'https://platform.kimi.ai/console/api-keys',
  qwen: 'https://modelstudio.console.alibabacloud.com',
  minimax: 'https://platform.minimax.io/user-center/basic-information/interface-key',
  cerebras: 'https://cloud.cerebras.ai/platform',
  together: 'https://api.together.ai/settings/api-keys',
  fireworks: 'https://app.fireworks.ai/settings/users/api-keys',
  huggingface: 'https://huggingface.co/settings/tokens',
}

export const keyPage = (provider: string): string | undefined =>
  Object.hasOwn(pages, provider) ? pages[provider] : undefined
