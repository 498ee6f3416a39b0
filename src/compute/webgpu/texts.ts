/** What is said where a GPU was asked for and cannot be used, or is no longer there. */

/** What to put into the file that tells Vulkan of an NVIDIA driver on a machine without a screen. */
export const NVIDIA_ICD =
  '{"file_format_version":"1.0.1","ICD":{"library_path":"libEGL_nvidia.so.0","api_version":"1.4.312"}}';

const ELSE = 'or choose the device "cpu"';

export const gpuTexts = {
  package: (reason: string) =>
    `a GPU needs the package webgpu, which cannot be loaded (${reason}): run "npm install webgpu", ${ELSE}`,
  browser: `this browser has no WebGPU: use a browser that has it on a secure page, ${ELSE}`,
  noAdapter: `no GPU was found: install its driver, with the part for Vulkan, ${ELSE}`,
  hidden: (device: string) =>
    `there is a GPU (${device}) that Vulkan does not show: install the Vulkan loader (libvulkan1), and name the driver's ICD file in VK_ICD_FILENAMES; for NVIDIA without a screen it holds ${NVIDIA_ICD}; ${ELSE}`,
  refused: (reason: string) =>
    `the GPU was found and gave no device (${reason}): close other programs that use it, ${ELSE}`,
  lost: (reason: string) =>
    `the GPU was lost (${reason}): start again, from the last checkpoint where there is one, ${ELSE}`,
  failed: (reason: string) =>
    `the GPU refused what it was given (${reason}): this is a mistake in fairbed; choose the device "cpu"`,
  memory: (megabytes: number) =>
    `the GPU has no room for another ${megabytes} MB: give smaller samples, or fewer starts, betas or seeds at a time, ${ELSE}`,
  tooLarge: (megabytes: number, most: number) =>
    `an array of ${megabytes} MB was needed and this GPU takes at most ${most} MB at once: give smaller samples, or fewer starts, betas or seeds at a time, ${ELSE}`,
};
