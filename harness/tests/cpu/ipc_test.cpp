// Mappings of another process's memory: contents, bounds, guard pages and refusal of bad handles.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <cudacpu/ipc.hpp>
#include <vector>

namespace {

class Ipc : public testing::Test {
 protected:
  void SetUp() override {
    fd_ = memfd_create("kb-ipc-test", 0);
    ASSERT_GE(fd_, 0);
    ASSERT_EQ(ftruncate(fd_, 16384), 0);
    shared_ = static_cast<char*>(mmap(nullptr, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    for (int i = 0; i < 16384; ++i) shared_[i] = static_cast<char>(i % 251);
  }
  void TearDown() override {
    munmap(shared_, 16384);
    close(fd_);
  }
  cudaIpcMemHandle_t handle(kb::cpu::IpcHandle ipc) {
    cudaIpcMemHandle_t result{};
    std::memcpy(&result, &ipc, sizeof ipc);
    return result;
  }

  int fd_ = -1;
  char* shared_ = nullptr;
};

TEST_F(Ipc, SharesContentsBothWays) {
  void* base = nullptr;
  ASSERT_EQ(
      cudaIpcOpenMemHandle(&base, handle({fd_, kb::cpu::ipc_magic, 4096, 8192, 256, 7000}), 0),
      cudaSuccess);
  std::vector<char> back(7000);
  ASSERT_EQ(cudaMemcpy(back.data(), static_cast<char*>(base) + 256, 7000, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(std::memcmp(back.data(), shared_ + 4096 + 256, 7000), 0);
  ASSERT_EQ(cudaMemset(static_cast<char*>(base) + 256, 42, 100), cudaSuccess);
  EXPECT_EQ(shared_[4096 + 256 + 99], 42);
  shared_[4096 + 300] = 7;
  ASSERT_EQ(cudaMemcpy(back.data(), static_cast<char*>(base) + 300, 1, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(back[0], 7);
  EXPECT_EQ(cudaIpcCloseMemHandle(base), cudaSuccess);
  EXPECT_EQ(cudaIpcCloseMemHandle(base), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_F(Ipc, IsDeviceMemoryAndBounded) {
  void* base = nullptr;
  ASSERT_EQ(cudaIpcOpenMemHandle(&base, handle({fd_, kb::cpu::ipc_magic, 0, 4096, 0, 4096}), 0),
            cudaSuccess);
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, base), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  char byte = 0;
  EXPECT_EQ(cudaMemcpy(static_cast<char*>(base) + 4095, &byte, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaIpcCloseMemHandle(base), cudaSuccess);
}

TEST_F(Ipc, RejectsBadHandles) {
  void* base = nullptr;
  const kb::cpu::IpcHandle bad[] = {
      {fd_, 0, 0, 4096, 0, 4096},                          // magic
      {-1, kb::cpu::ipc_magic, 0, 4096, 0, 4096},          // descriptor
      {fd_, kb::cpu::ipc_magic, 100, 4096, 0, 4096},       // offset inside a page
      {fd_, kb::cpu::ipc_magic, 0, 5000, 0, 4096},         // length inside a page
      {fd_, kb::cpu::ipc_magic, 8192, 16384, 0, 4096},     // beyond the file
      {fd_, kb::cpu::ipc_magic, 0, 4096, 4000, 200},       // data beyond the mapping
      {fd_, kb::cpu::ipc_magic, 0, 4096, ~0ull - 10, 20},  // wraps around
  };
  for (const auto& each : bad) {
    EXPECT_EQ(cudaIpcOpenMemHandle(&base, handle(each), 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  }
}

#if defined(KB_SANITIZE_ADDRESS)
#elif !defined(KB_SANITIZE_THREAD)
TEST_F(Ipc, HostAccessFaults) {
  void* base = nullptr;
  ASSERT_EQ(cudaIpcOpenMemHandle(&base, handle({fd_, kb::cpu::ipc_magic, 0, 4096, 0, 4096}), 0),
            cudaSuccess);
  auto* bytes = static_cast<volatile char*>(base);
  EXPECT_DEATH(bytes[10] = 1, "device memory dereferenced on the host");
  EXPECT_DEATH(bytes[-1] = 1, "before the start of");
  EXPECT_DEATH(bytes[4096] = 1, "past the end of");
  EXPECT_EQ(cudaIpcCloseMemHandle(base), cudaSuccess);
}

TEST_F(Ipc, FaultsNameTheTensor) {
  void* base = nullptr;
  ASSERT_EQ(cudaIpcOpenMemHandle(&base, handle({fd_, kb::cpu::ipc_magic, 0, 4096, 256, 1000}), 0),
            cudaSuccess);
  kb::cpu::name_tensor(base, "x");
  auto* bytes = static_cast<volatile char*>(base);
  EXPECT_DEATH(bytes[4096] = 1, "2840 bytes past the end of the tensor 'x'");
  EXPECT_DEATH(bytes[-1] = 1, "257 bytes before the start of the tensor 'x'");
  EXPECT_DEATH(bytes[266] = 1, "at byte 10 of the tensor 'x'");
  EXPECT_EQ(cudaIpcCloseMemHandle(base), cudaSuccess);
}
#endif

}  // namespace
