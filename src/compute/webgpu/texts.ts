/** What is said where a GPU was asked for and cannot be used, or is no longer there. */

/** What to put into the file that tells Vulkan of an NVIDIA driver on a machine without a screen. */
export const NVIDIA_ICD =
  '{"file_format_version":"1.0.1","ICD":{"library_path":"libEGL_nvidia.so.0","api_version":"1.4.312"}}';

const ELSE = 'or choose the device "cpu"';

const LESS = `give smaller samples, or fewer starts, betas or seeds at a time, ${ELSE}`;

/** What to do next, after the reason. */
const ADVICE = {
  package: `run "npm install webgpu", ${ELSE}`,
  browser: `use a browser that has it on a secure page, ${ELSE}`,
  noAdapter: `install its driver, on Linux with its part for Vulkan and the Vulkan loader (libvulkan1), and name the driver's ICD file in VK_ICD_FILENAMES where the loader does not find it; ${ELSE}`,
  hidden: `install the Vulkan loader (libvulkan1), and name the driver's ICD file in VK_ICD_FILENAMES; for NVIDIA without a screen it holds ${NVIDIA_ICD}; ${ELSE}`,
  driver: `update its driver, ${ELSE}`,
  refused: `close other programs that use it, ${ELSE}`,
  lost: `start again, from the last checkpoint where there is one, ${ELSE}`,
  failed: 'this is a mistake in fairbed; choose the device "cpu"',
  memory: LESS,
  tooLarge: LESS,
};

export const gpuTexts = {
  package: (reason: string) =>
    `a GPU needs the package webgpu, which cannot be loaded (${reason}): ${ADVICE.package}`,
  browser: `this browser has no WebGPU: ${ADVICE.browser}`,
  noAdapter: `no GPU was found: ${ADVICE.noAdapter}`,
  hidden: (device: string) => `there is a GPU (${device}) that Vulkan does not show: ${ADVICE.hidden}`,
  driver: `looking for a GPU ended the process that looked, as a broken driver does: ${ADVICE.driver}`,
  refused: (reason: string) => `the GPU was found and gave no device (${reason}): ${ADVICE.refused}`,
  lost: (reason: string) => `the GPU was lost (${reason}): ${ADVICE.lost}`,
  failed: (reason: string) => `the GPU refused what it was given (${reason}): ${ADVICE.failed}`,
  memory: (megabytes: number) => `the GPU has no room for another ${megabytes} MB: ${ADVICE.memory}`,
  tooLarge: (megabytes: number, most: number) =>
    `an array of ${megabytes} MB was needed and this GPU takes at most ${most} MB at once: ${ADVICE.tooLarge}`,
};

/** Of such a message the reason alone, for a note: where the processor has taken over, there is nothing left to do. */
export const gpuReason = (message: string): string => {
  const advice = Object.values(ADVICE).find((each) => message.endsWith(`: ${each}`));
  return advice === undefined ? message : message.slice(0, -`: ${advice}`.length);
};
